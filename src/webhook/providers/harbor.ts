import { hex, seconds } from "../provider/sample.ts";
import { provider, says } from "../provider.ts";
import { BEARER_TOKEN } from "../signature/signing.ts";

export default provider({
  title: "Harbor",
  docs: "https://goharbor.io/docs/latest/working-with-projects/project-configuration/configure-webhooks/",
  schemes: BEARER_TOKEN,
  covers: "none",
  // The preset `cloudevents` takes its other payload format with the ids that it has.
  type: ["body:type"],
  dedupe: {
    mode: "off",
    why: "Its default format has no id, and a time in seconds: two pulls in one second have the same bytes.",
    source: "https://goharbor.io/docs/latest/working-with-projects/project-configuration/configure-webhooks/",
  },
  contentTypes: ["application/json", "application/cloudevents+json"],
  facts: says(
    "https://github.com/goharbor/website/blob/9f010ab1c800e0353c3df96a0b23725294bd10ab/docs/working-with-projects/project-configuration/configure-webhooks.md",
    { answer: "2xx", answerSeconds: 3, repeats: "automatic", schedule: "up to 3 times unless configured" },
  ),
  sample: {
    type: "PUSH_ARTIFACT",
    content: {
      json: ({ type, now }) => {
        const digest = `sha256:${hex(64)}`;
        return {
          type,
          occur_at: seconds(now),
          operator: "admin",
          event_data: {
            resources: [{ digest, tag: "latest", resource_url: "harbor.example.com/shop/web:latest" }],
            repository: {
              date_created: seconds(now) - 86_400,
              name: "web",
              namespace: "shop",
              repo_full_name: "shop/web",
              repo_type: "private",
            },
          },
        };
      },
    },
  },
});
