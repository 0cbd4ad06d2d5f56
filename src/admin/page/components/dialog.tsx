import type { ComponentChildren, VNode } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";

interface DialogProps {
  title: string;
  children: ComponentChildren;
  /** Called once the dialog has closed, by a button of it or by Escape. */
  onClose: () => void;
}

/** A dialog over the page. A `<form method="dialog">` in it closes it, and the focus returns to where it was. */
export function Dialog({ title, children, onClose }: DialogProps): VNode {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => ref.current?.showModal(), []);
  return (
    <dialog ref={ref} aria-labelledby={id} onClose={onClose}>
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  );
}

/** Closes the dialog that an event comes from. */
export function closeDialog(event: Event): void {
  (event.currentTarget as Element).closest("dialog")?.close();
}
