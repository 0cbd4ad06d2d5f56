import { integer } from "../provider/sample.ts";
import { JSON_OR_FORM, provider, says } from "../provider.ts";
import { BEARER_TOKEN } from "../signature/signing.ts";

export default provider({
  title: "Datadog",
  docs: "https://docs.datadoghq.com/integrations/webhooks/",
  schemes: [BEARER_TOKEN, { type: "basic" }],
  covers: "none",
  type: ["body:event_type"],
  dedupe: {
    mode: "off",
    why: "The account writes the body, which may be the same for each alert, and there is no other id.",
    source: "https://docs.datadoghq.com/integrations/webhooks/",
  },
  contentTypes: JSON_OR_FORM,
  facts: says("https://docs.datadoghq.com/integrations/webhooks/", {
    answerSeconds: 15,
    repeats: "automatic",
    schedule: "after 5xx; up to 5 times if it cannot connect",
  }),
  sample: {
    type: "query_alert_monitor",
    content: {
      json: ({ type, now }) => ({
        body: "The memory of web-1 is nearly used up. It has been above 90 percent for five minutes.",
        last_updated: String(now),
        event_type: type,
        title: "[Triggered] High memory usage",
        date: String(now),
        org: { id: "104839", name: "Example" },
        id: String(integer(15)),
      }),
    },
  },
});
