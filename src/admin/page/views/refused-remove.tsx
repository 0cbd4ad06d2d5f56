import type { VNode } from "preact";
import { announce } from "../components/announcer.tsx";
import { Confirm } from "../components/confirm.tsx";
import { removeHeld } from "../requests.ts";
import { t } from "../texts/texts.ts";

/** Asks before held deliveries are removed. */
export const removeDialog = (
  ids: number[],
  { onRemoved, onClose }: { onRemoved: () => void; onClose: () => void },
): VNode => (
  <Confirm
    title={t.refused.removeTitle(ids.length)}
    action={t.refused.remove}
    isDangerous
    onConfirm={async () => {
      const { removed } = await removeHeld(ids);
      announce(t.refused.removed(removed));
      onRemoved();
    }}
    onClose={onClose}
  >
    <p>{t.refused.removeEffect}</p>
  </Confirm>
);
