import type { VNode } from "preact";
import type { Alert } from "../answers.ts";
import { announce } from "../components/announcer.ts";
import { confirm } from "../components/confirm.ts";
import { silence } from "../endpoints.ts";
import { html } from "../html.ts";
import { alerts } from "../live.ts";
import { formats, t } from "../texts/texts.ts";

const HOUR_MS = 3_600_000;
const HOURS = ["1", "8", "24"] as const;

/** Asks for how long an alert is to be silenced. Its labels stay: others of the same name are sent. */
export function silenceDialog({ name, labels }: Alert, onClose: () => void): VNode {
  return confirm({
    title: t.alerts.silenceTitle(name),
    action: t.alerts.silence,
    onClose,
    children: html`<p class="soft">${t.alerts.silenceEffect}</p>
      <p>${Object.entries(labels).map(([label, value]) => html`<code key=${label}>${label}=${value}</code> `)}</p>
      <fieldset><legend>${t.alerts.duration}</legend>${HOURS.map(
        (hours) =>
          html`<label class="radio" key=${hours}><input type="radio" name="hours" value=${hours} checked=${hours === "1"} />${t.alerts.hours[hours]}</label>`,
      )}</fieldset>
      <label>${t.alerts.reason}<input name="reason" maxlength="1000" autocomplete="off" /></label>`,
    async onConfirm(fields) {
      const reason = String(fields.get("reason") ?? "").trim();
      const forMs = Number(fields.get("hours")) * HOUR_MS;
      const { until } = await silence({ name, labels: { ...labels }, forMs, ...(reason && { reason }) });
      await alerts.reload();
      announce(t.alerts.isSilenced(name, formats.exact(Date.parse(until))));
    },
  });
}
