import { provider, says } from "../provider.ts";
import { hmacOfBody } from "../signature/signing.ts";

export default provider({
  title: "Deel",
  docs: "https://developer.deel.com/api/webhooks/quickstart",
  schemes: hmacOfBody("x-deel-signature", { signed: "POST{body}" }),
  type: ["body:data.meta.event_type"],
  facts: says("https://developer.deel.com/api/webhooks/introduction", {
    answer: "any 2xx",
    answerSeconds: 30,
    repeats: "automatic",
    disables: "after 10 failures in a row",
  }),
});
