import { provider } from "../provider.ts";
import { hmacOfBody } from "../signing.ts";

export default provider({
  title: "Deel",
  docs: "https://developer.deel.com/api/webhooks/quickstart",
  schemes: hmacOfBody("x-deel-signature", { signed: "POST{body}" }),
  type: ["body:data.meta.event_type"],
});
