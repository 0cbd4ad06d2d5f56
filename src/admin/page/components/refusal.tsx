import type { VNode } from "preact";
import { named, t } from "../texts/texts.ts";

/** What a reason means, with its name. */
export const reasonText = (reason: string): VNode => (
  <>
    {named(t.refused.reasons, reason)} <code class="soft">{reason}</code>
  </>
);

/** Why a delivery was refused, and what to do. */
export function remedyOf(reason: string): VNode {
  const remedy = named(t.refused.remedies, reason);
  return (
    <>
      <p>{reasonText(reason)}</p>
      {remedy !== undefined && <p>{remedy}</p>}
    </>
  );
}
