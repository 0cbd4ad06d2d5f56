import type { VNode } from "preact";

interface ButtonProps {
  label: string;
  /** What it acts on, for readers of the screen. */
  of?: string;
  class?: string;
  onClick: (event: MouseEvent) => unknown;
}

/** A button that does something at once. */
export const Button = ({ label, of, class: kind, onClick }: ButtonProps): VNode => (
  <button type="button" class={kind} onClick={onClick}>
    {label}
    {of !== undefined && <span class="offscreen">: {of}</span>}
  </button>
);
