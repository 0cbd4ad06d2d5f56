import type { VNode } from "preact";
import { t } from "../texts/texts.ts";
import { type IconName, icon } from "./icon.tsx";

type Tone = "good" | "bad" | "warn" | "note" | "calm";

/** A short state: its colour is never the only sign. */
export const badge = (tone: Tone, sign: IconName, text: string): VNode => (
  <span class={`badge ${tone}`}>
    {icon(sign)}
    {text}
  </span>
);

const OF_STATUS = {
  queued: ["note", "clock"],
  processed: ["good", "check"],
  failed: ["bad", "cross"],
  discarded: ["calm", "minus"],
  unrouted: ["calm", "warning"],
} as const satisfies Record<string, [Tone, IconName]>;

/** The status of an event or a job. */
export function statusBadge(status: keyof typeof OF_STATUS): VNode {
  const [tone, sign] = OF_STATUS[status];
  return badge(tone, sign, t.status[status]);
}
