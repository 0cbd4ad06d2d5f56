import { provider } from "../provider.ts";

export default provider({
  title: "Postmark",
  docs: "https://postmarkapp.com/developer/webhooks/webhooks-overview",
  schemes: { type: "basic" },
  covers: "none",
  type: ["body:RecordType"],
});
