import { useSignal } from "@preact/signals";
import type { ComponentChildren, VNode } from "preact";
import { element, html } from "../html.ts";

interface LazyProps {
  summary: ComponentChildren;
  /** Makes the content, while it is open. */
  content: () => ComponentChildren;
  isOpen?: boolean;
}

function LazyDetails({ summary, content, isOpen = false }: LazyProps): VNode {
  const open = useSignal(isOpen);
  const onToggle = (event: Event) => {
    open.value = (event.currentTarget as HTMLDetailsElement).open;
  };
  return html`<details open=${open.value} onToggle=${onToggle}><summary>${summary}</summary>${open.value && content()}</details>`;
}

/** Content that is made once it is opened. */
export const lazyDetails = (summary: ComponentChildren, content: () => ComponentChildren, isOpen = false): VNode =>
  element(LazyDetails, { summary, content, isOpen });
