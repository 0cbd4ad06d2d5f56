import type { ComponentChildren, VNode } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { hashOf } from "../place.ts";
import { t } from "../texts/texts.ts";

let isFirst = true;

interface HeadingProps {
  title: string;
  /** The view that this one is a part of. */
  back?: "refused" | "routes" | "sources";
  /** What is beside it. */
  children?: ComponentChildren;
}

/** The heading of a view: it takes the focus when the view opens. */
export function Heading({ title, back, children }: HeadingProps): VNode {
  const ref = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => {
    document.title = `${title} · authserve`;
  }, [title]);
  useLayoutEffect(() => {
    // A reader who has just opened the page begins at its top.
    if (!isFirst) {
      ref.current?.focus({ preventScroll: true });
      scrollTo(0, 0);
    }
    isFirst = false;
  }, []);
  const heading = (
    <h1 ref={ref} tabIndex={-1}>
      {title}
    </h1>
  );
  return (
    <>
      {back && (
        <p>
          <a href={hashOf([back])}>← {t.views[back]}</a>
        </p>
      )}
      {children ? (
        <div class="bar">
          {heading}
          {children}
        </div>
      ) : (
        heading
      )}
    </>
  );
}
