import type { VNode } from "preact";
import { announce } from "../components/announcer.ts";
import { confirm } from "../components/confirm.ts";
import { removeHeld } from "../endpoints.ts";
import { html } from "../html.ts";
import { t } from "../texts/texts.ts";

/** Asks before held deliveries are removed. */
export const removeDialog = (
  ids: readonly number[],
  { onRemoved, onClose }: { onRemoved: () => void; onClose: () => void },
): VNode =>
  confirm({
    title: t.refused.removeTitle(ids.length),
    children: html`<p>${t.refused.removeEffect}</p>`,
    action: t.refused.remove,
    isDangerous: true,
    async onConfirm() {
      const { removed } = await removeHeld(ids);
      announce(t.refused.removed(removed));
      onRemoved();
    },
    onClose,
  });
