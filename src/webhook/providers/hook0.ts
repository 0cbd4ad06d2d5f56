import { provider, says } from "../provider.ts";
import { bytesOf, headerText, type OwnPart } from "../signature/signed-text.ts";
import { timestampedPairs } from "../signature/signing.ts";

/**
 * The values, joined by dots, of the headers that the item `h` lists. It covers none of them by itself: there is no
 * mark between two values, so that a part of one could be moved to its neighbour.
 */
const HEADERS: OwnPart = {
  read: ({ headers }, items) => {
    const names = items.pair("h")?.toLowerCase().split(" ") ?? [];
    const values = names.map((name) => headerText(headers, name));
    return values.includes(undefined) ? null : bytesOf(values.join("."));
  },
  adds: (headers) => {
    const names = Object.keys(headers).filter((name) => name.startsWith("x-"));
    return { items: { h: names.join(" ") } };
  },
};

export default provider({
  title: "Hook0",
  docs: "https://documentation.hook0.com/tutorials/webhook-authentication",
  schemes: [
    timestampedPairs("x-hook0-signature", {
      signed: "{timestamp}.{pair:h}.{own:headers}.{body}",
      parts: { headers: HEADERS },
    }),
    timestampedPairs("x-hook0-signature", { label: "v0" }),
  ],
  id: ["header:x-event-id"],
  type: ["header:x-event-type"],
  facts: {
    ...says("https://documentation.hook0.com/explanation/webhook-retry-logic", {
      repeats: "automatic",
      schedule: "after 3 and 10 seconds, 3 and 30 minutes, 1, 3 and 5 hours, then 17 times after 10 hours",
      repeatsForSeconds: 646_393,
    }),
    ...says("https://documentation.hook0.com/explanation/webhook-delivery-guarantees", { answer: "any 2xx" }),
  },
  evidence: { kind: "sdk", by: "hook0-client@1.1.0" },
});
