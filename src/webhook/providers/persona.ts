import { provider, says } from "../provider.ts";
import { readSignatures } from "../signature/signature-items.ts";
import { timestampedPairs } from "../signature/signing.ts";

const PAIRS = { format: "pairs", label: "v1", timestamp: { pair: "t" } } as const;

export default provider({
  title: "Persona",
  docs: "https://docs.withpersona.com/docs/webhooks-best-practices",
  // While a secret is being rotated, there is one group for each.
  schemes: timestampedPairs("persona-signature", {
    format: {
      read: (value) => readSignatures(PAIRS, value.split(" ")),
      write: (signature, { timestamp }) => `t=${timestamp},v1=${signature}`,
    },
    timestamp: { own: true },
  }),
  id: ["body:data.id"],
  type: ["body:data.attributes.name"],
  facts: says(
    "https://github.com/hookdeck/webhook-skills/blob/00ad8d05f1db530909e1b96b16760b5bbc9ebe69/providers.yaml",
    {
      rotation: "two groups of t and v1, with a blank between them",
      answer: "200, 201, 202 or 204",
      answerSeconds: 5,
      repeats: "automatic",
      schedule: "7 times, ever later",
      keepsDays: 30,
    },
  ),
});
