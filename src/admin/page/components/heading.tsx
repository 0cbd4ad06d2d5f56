import type { VNode } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

let isFirst = true;

/** The heading of a view: it takes the focus when the view opens. */
export function Heading({ title }: { title: string }): VNode {
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
  return (
    <h1 ref={ref} tabIndex={-1}>
      {title}
    </h1>
  );
}
