import { useSignal } from "@preact/signals";
import type { ComponentChildren, VNode } from "preact";

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
  return (
    <details open={open.value} onToggle={onToggle}>
      <summary>{summary}</summary>
      {open.value && content()}
    </details>
  );
}

/** Content that is made once it is opened. */
export const lazyDetails = (summary: ComponentChildren, content: () => ComponentChildren, isOpen = false): VNode => (
  <LazyDetails summary={summary} content={content} isOpen={isOpen} />
);
