import type { VNode } from "preact";
import type { EventDetail } from "../answers.ts";
import { Confirm } from "../components/confirm.tsx";
import { eraseEvent } from "../requests.ts";
import { t } from "../texts/texts.ts";

/** A dialog that asks for the reason, and erases the content of an event. */
export const eraseDialog = (event: EventDetail, onClose: (hasChanged: boolean) => void): VNode => {
  let hasChanged = false;
  return (
    <Confirm
      title={t.event.eraseTitle}
      action={t.event.erase}
      isDangerous
      onConfirm={async (fields) => {
        await eraseEvent(event, String(fields.get("reason") ?? ""));
        hasChanged = true;
      }}
      onClose={() => onClose(hasChanged)}
    >
      <p>{t.event.eraseEffect}</p>
      <label>
        {t.bulk.reason}
        <input name="reason" required maxLength={1000} autocomplete="off" />
      </label>
    </Confirm>
  );
};
