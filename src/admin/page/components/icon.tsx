import type { VNode } from "preact";

const PATHS = {
  check: "M3 8.5 6.5 12 13 4.5",
  cross: "M4 4l8 8M12 4l-8 8",
  clock: "M8 4v4l2.5 2M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13",
  pause: "M5.5 3.5v9M10.5 3.5v9",
  minus: "M3.5 8h9",
  plus: "M3.5 8h9M8 3.5v9",
  warning: "M8 2 1.8 13.5h12.4L8 2zM8 6.5v3.2M8 11.4v.6",
  bell: "M8 2a4 4 0 0 0-4 4c0 4-1.5 5-1.5 5h11S12 10 12 6a4 4 0 0 0-4-4M6.7 13.5a1.5 1.5 0 0 0 2.6 0",
};

export type IconName = keyof typeof PATHS;

/** A sign beside a word, that readers of the screen skip. */
export const icon = (name: IconName): VNode => (
  <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
    <path d={PATHS[name]} />
  </svg>
);
