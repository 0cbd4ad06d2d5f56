import type { VNode } from "preact";
import type { EventDetail } from "../answers.ts";
import { confirm } from "../components/confirm.ts";
import { eraseEvent } from "../endpoints.ts";
import { html } from "../html.ts";
import { t } from "../texts/texts.ts";

/** A dialog that asks for the reason, and erases the content of an event. */
export const eraseDialog = (event: EventDetail, onClose: (hasChanged: boolean) => void): VNode => {
  let hasChanged = false;
  return confirm({
    title: t.event.eraseTitle,
    children: html`<p>${t.event.eraseEffect}</p>
      <label>${t.bulk.reason}<input name="reason" required maxlength="1000" autocomplete="off" /></label>`,
    action: t.event.erase,
    isDangerous: true,
    async onConfirm(fields) {
      await eraseEvent(event, String(fields.get("reason") ?? ""));
      hasChanged = true;
    },
    onClose: () => onClose(hasChanged),
  });
};
