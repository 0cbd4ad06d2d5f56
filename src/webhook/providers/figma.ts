import { base62, integer, iso } from "../provider/sample.ts";
import { provider, says } from "../provider.ts";

export default provider({
  title: "Figma",
  docs: "https://developers.figma.com/docs/rest-api/webhooks-security",
  schemes: { type: "token", json: "passcode" },
  covers: "none",
  type: ["body:event_type"],
  facts: {
    ...says("@figma/rest-api-spec@0.43.0", {
      answer: "200",
      repeats: "automatic",
      schedule: "3 times with growing delays",
    }),
    ...says("https://developers.figma.com/docs/rest-api/webhooks-security", { disables: "at once for 400" }),
  },
  sample: {
    type: "FILE_VERSION_UPDATE",
    content: {
      json: ({ type, now }) => ({
        event_type: type,
        created_at: iso(now - 1000),
        description: "Ready for development",
        file_key: base62(22),
        file_name: "Landing page",
        passcode: "",
        timestamp: iso(now),
        triggered_by: { id: "1048392750164", handle: "Test User" },
        version_id: String(integer(10)),
        webhook_id: "471920",
      }),
    },
  },
});
