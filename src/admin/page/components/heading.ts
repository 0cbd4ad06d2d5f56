import type { VNode } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { element, html } from "../html.ts";

let isFirst = true;

function Heading({ title, detail }: { title: string; detail: VNode | null }): VNode {
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
  return html`<h1 ref=${ref} tabindex="-1">${title}${detail}</h1>`;
}

/** The heading of a view: it takes the focus when the view opens. */
export const heading = (title: string, detail: VNode | null = null): VNode => element(Heading, { title, detail });
