import { provider, says } from "../provider.ts";
import type { OwnFormat } from "../signature/signed-text.ts";
import { hmacOfBody } from "../signature/signing.ts";

/** The time, then signatures. */
const FORMAT: OwnFormat = {
  read: (value) => {
    const [timestamp = "", ...signatures] = value
      .split(",")
      .map((item) => item.replace(/^[ \t]+|(?<![ \t])[ \t]+$/g, ""));
    return [{ timestamp, signatures }];
  },
  write: (signature, { timestamp }) => `${timestamp},${signature}`,
};

export default provider({
  title: "Recurly",
  docs: "https://docs.recurly.com/recurly-subscriptions/docs/signature-verification",
  // Receivers are known that take seconds.
  schemes: (["ms", "s"] as const).map((unit) =>
    hmacOfBody("recurly-signature", {
      format: FORMAT,
      timestamp: { own: true, unit },
      signed: "{timestamp}.{body}",
    }),
  ),
  id: ["header:recurly-notification-id"],
  type: ["body:event_type"],
  facts: says("https://docs.recurly.com/recurly-subscriptions/docs/automatic-retries", {
    answer: "any 2xx",
    repeats: "automatic",
    schedule: "10 times, about 10 + n * 2^(n + 5) seconds after the one before, for n from 0 to 9",
    repeatsForSeconds: 262_308,
  }),
  evidence: {
    kind: "published",
    by: "https://github.com/recurly/recurly-client-ruby/blob/05fa008d7df3cb82187e7c8c7b0330a8b8ea0b58/spec/recurly/webhooks_spec.rb",
  },
});
