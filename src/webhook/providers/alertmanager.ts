import { hex, iso } from "../provider/sample.ts";
import { provider, says } from "../provider.ts";
import { BEARER_TOKEN } from "../signature/signing.ts";

const DOCUMENTATION =
  "https://github.com/prometheus/alertmanager/blob/68fb2d5759b3a92c0bb2a1a13d4ef7ff5b06256d/docs/configuration.md";
const REPEATED = "https://github.com/prometheus/alertmanager/issues/3326";

export default provider({
  title: "Prometheus Alertmanager",
  docs: "https://prometheus.io/docs/alerting/latest/configuration/#webhook_config",
  schemes: [BEARER_TOKEN, { type: "basic" }],
  covers: "none",
  type: ["body:status"],
  dedupe: {
    mode: "off",
    why: "An alert that goes on is notified again after repeat_interval with the same bytes, and there is no id.",
    source: REPEATED,
  },
  facts: {
    ...says(REPEATED, { sameBytes: true }),
    ...says(DOCUMENTATION, {
      batches: true,
      repeats: "automatic",
      schedule: "after 5xx or no answer, with growing delays",
    }),
  },
  sample: {
    type: "firing",
    headers: () => ({ "user-agent": "Alertmanager/0.28.1" }),
    content: {
      json: ({ type, now }) => {
        const labels = { alertname: "InstanceDown", instance: "web-1:9100", job: "node", severity: "critical" };
        const annotations = { summary: "Instance web-1:9100 is down" };
        return {
          receiver: "webhook",
          status: type,
          alerts: [
            {
              status: type,
              labels,
              annotations,
              startsAt: iso(now - 60_000),
              endsAt: "0001-01-01T00:00:00Z",
              generatorURL: "http://prometheus.example.com/graph?g0.expr=up+%3D%3D+0&g0.tab=1",
              fingerprint: hex(16),
            },
          ],
          groupLabels: { alertname: labels.alertname },
          commonLabels: labels,
          commonAnnotations: annotations,
          externalURL: "http://alertmanager.example.com",
          version: "4",
          groupKey: '{}:{alertname="InstanceDown"}',
          truncatedAlerts: 0,
        };
      },
    },
  },
});
