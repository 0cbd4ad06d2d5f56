import { signal } from "@preact/signals";
import type { VNode } from "preact";

const said = signal("");

/** Tells readers of the screen a result, once they are idle. */
export function announce(text: string): void {
  // The same text again would be no change, and not be read.
  said.value = said.value === text ? `${text}\u00a0` : text;
}

/** Holds what is announced. It is on the page all the time. */
export const Announcer = (): VNode => (
  <p class="offscreen" role="status">
    {said.value}
  </p>
);
