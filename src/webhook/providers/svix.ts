import { svix as catchUp } from "../catch-up/svix.ts";
import { provider, says } from "../provider.ts";
import { standardSchemes } from "../signature/signing.ts";

export default provider({
  title: "Svix",
  docs: "https://docs.svix.com/receiving/verifying-payloads/how",
  schemes: standardSchemes("svix", "webhook"),
  // The id is in the header that the signature covers.
  type: ["body:type"],
  catchUp,
  facts: {
    ...says("https://docs.svix.com/retries", {
      answer: "any 2xx",
      answerSeconds: 15,
      repeats: "automatic",
      schedule: "after 5 seconds, 5 and 30 minutes, 2, 5, 10 and 10 hours",
      repeatsForSeconds: 5 + 35 * 60 + 27 * 3600,
      disables: "after 5 days in which every attempt failed",
    }),
    ...says("https://docs.svix.com/retention", { keepsDays: 90 }),
  },
  evidence: {
    kind: "published",
    by: "https://github.com/svix/svix-webhooks/blob/4fc0cfb8b426c87ef7e2b937e7d896a71d456a47/server/svix-server/src/worker.rs",
  },
});
