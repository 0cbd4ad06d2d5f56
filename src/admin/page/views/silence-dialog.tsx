import type { VNode } from "preact";
import type { Alert } from "../answers.ts";
import { announce } from "../components/announcer.tsx";
import { Confirm } from "../components/confirm.tsx";
import { alerts } from "../live.ts";
import { silence } from "../requests.ts";
import { formats, t } from "../texts/texts.ts";

const HOUR_MS = 3_600_000;
const HOURS = ["1", "8", "24"] as const;

/** Asks for how long an alert is to be silenced. Its labels stay: others of the same name are sent. */
export function silenceDialog({ name, labels }: Alert, onClose: () => void): VNode {
  return (
    <Confirm
      title={t.alerts.silenceTitle(name)}
      action={t.alerts.silence}
      onClose={onClose}
      onConfirm={async (fields) => {
        const reason = String(fields.get("reason") ?? "").trim();
        const forMs = Number(fields.get("hours")) * HOUR_MS;
        const { until } = await silence({ name, labels: { ...labels }, forMs, ...(reason && { reason }) });
        await alerts.reload();
        announce(t.alerts.isSilenced(name, formats.exact(Date.parse(until))));
      }}
    >
      <p class="soft">{t.alerts.silenceEffect}</p>
      <p>
        {Object.entries(labels).map(([label, value]) => (
          <>
            <code key={label}>
              {label}={value}
            </code>{" "}
          </>
        ))}
      </p>
      <fieldset>
        <legend>{t.alerts.duration}</legend>
        {HOURS.map((hours) => (
          <label class="radio" key={hours}>
            <input type="radio" name="hours" value={hours} checked={hours === "1"} />
            {t.alerts.hours[hours]}
          </label>
        ))}
      </fieldset>
      <label>
        {t.alerts.reason}
        <input name="reason" maxLength={1000} autocomplete="off" />
      </label>
    </Confirm>
  );
}
