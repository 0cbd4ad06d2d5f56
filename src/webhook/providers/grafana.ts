import { hex, iso } from "../provider/sample.ts";
import { provider, says } from "../provider.ts";
import { BEARER_TOKEN, hmacOfBody, timestamped } from "../signature/signing.ts";

export default provider({
  title: "Grafana",
  docs: "https://grafana.com/docs/grafana/latest/alerting/configure-notifications/manage-contact-points/integrations/webhook-notifier",
  schemes: [
    // The header of the time has the name that the contact point gives it.
    timestamped("x-grafana-alerting-signature", { header: "x-grafana-alerting-timestamp" }, "{timestamp}:{body}"),
    hmacOfBody("x-grafana-alerting-signature"),
    BEARER_TOKEN,
    { type: "basic" },
  ],
  covers: "part",
  type: ["body:status"],
  dedupe: {
    mode: "off",
    why: "An alert that goes on is notified again with the same bytes, and there is no id.",
    source:
      "https://github.com/grafana/alerting/blob/783ce041445f48a1c5d7ec785becb54d57ae7918/receivers/webhook/v1/webhook.go",
  },
  facts: says(
    "https://github.com/grafana/alerting/blob/783ce041445f48a1c5d7ec785becb54d57ae7918/receivers/webhook/v1/webhook.go",
    { sameBytes: true, batches: true },
  ),
  sample: {
    type: "firing",
    headers: () => ({ "user-agent": "Grafana" }),
    content: {
      json: ({ type, now }) => {
        const labels = { alertname: "High memory usage", team: "blue", zone: "us-1" };
        const annotations = { summary: "The memory of a host is nearly used up" };
        const url = "https://grafana.example.com";
        const startsAt = iso(now - 60_000);
        return {
          receiver: "My receiver",
          status: type,
          alerts: [
            {
              status: type,
              labels,
              annotations,
              startsAt,
              endsAt: "0001-01-01T00:00:00Z",
              values: { B: 22.98, C: 1 },
              generatorURL: `${url}/alerting/grafana/blp4dkq0afyq/view?orgId=1`,
              fingerprint: hex(16),
              silenceURL: `${url}/alerting/silence/new?alertmanager=grafana&matcher=alertname%3DHigh+memory+usage&orgId=1`,
              dashboardURL: "",
              panelURL: "",
              valueString: "[ var='B' labels={} value=22.98 ], [ var='C' labels={} value=1 ]",
              orgId: 1,
            },
          ],
          groupLabels: { alertname: labels.alertname },
          commonLabels: labels,
          commonAnnotations: annotations,
          externalURL: `${url}/`,
          version: "1",
          groupKey: '{}:{alertname="High memory usage"}',
          truncatedAlerts: 0,
          orgId: 1,
          title: "[FIRING:1] High memory usage (blue us-1)",
          state: "alerting",
          message: "**Firing**\n\nThe memory of a host is nearly used up",
        };
      },
    },
  },
});
