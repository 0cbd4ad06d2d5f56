import type { ComponentChildren, Ref, VNode } from "preact";

interface SectionProps {
  title: string;
  children: ComponentChildren;
  sectionRef?: Ref<HTMLElement>;
}

/** A part of a view under its own heading. `sectionRef` gets its element. */
export const Section = ({ title, children, sectionRef = null }: SectionProps): VNode => (
  <section ref={sectionRef}>
    <h2>{title}</h2>
    {children}
  </section>
);
