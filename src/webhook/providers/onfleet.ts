import { echoQuery } from "../provider/described-handshakes.ts";
import { provider, says } from "../provider.ts";
import { hmacOfBody } from "../signature/signing.ts";

export default provider({
  title: "Onfleet",
  docs: "https://docs.onfleet.com/reference/secrets",
  schemes: hmacOfBody("x-onfleet-signature", { algorithm: "sha512", key: "hex" }),
  // https://github.com/api-evangelist/onfleet, examples/onfleet-webhook-task-completed-example.json: the name and number of
  // the trigger.
  type: ["body:triggerName", "body:triggerId"],
  // https://docs.onfleet.com/reference-link/validation: the answer to `?check=` is its value, with 200.
  handshake: { kind: "onfleet", ...echoQuery("check") },
  facts: says("https://docs.onfleet.com/reference/retry.md", {
    answer: "200",
    repeats: "automatic",
    schedule: "every 30 minutes for a day",
    repeatsForSeconds: 86_400,
    disables: "after 300 failures in a row",
  }),
});
