import { provider } from "../provider.ts";
import { standardSchemes } from "../signing.ts";

export default provider({
  title: "Svix",
  docs: "https://docs.svix.com/receiving/verifying-payloads/how",
  schemes: standardSchemes("svix", "webhook"),
  // The id is in the header that the signature covers.
  type: ["body:type"],
  evidence: {
    kind: "published",
    by: "https://github.com/svix/svix-webhooks/blob/4fc0cfb8b426c87ef7e2b937e7d896a71d456a47/server/svix-server/src/worker.rs",
  },
});
