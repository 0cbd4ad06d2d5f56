import { integer, seconds, upperBase36 } from "../provider/sample.ts";
import { provider, says } from "../provider.ts";
import { hmacOfBody } from "../signature/signing.ts";

export default provider({
  title: "Buy Me a Coffee",
  docs: "https://help.buymeacoffee.com/en/articles/15743173-how-to-setup-and-use-buy-me-a-coffee-webhooks",
  schemes: hmacOfBody("x-signature-sha256"),
  id: ["body:event_id"],
  type: ["body:type"],
  facts: {
    ...says("https://help.buymeacoffee.com/en/articles/15743173-how-to-setup-and-use-buy-me-a-coffee-webhooks", {
      disables: "after more than 10 failures in a row",
    }),
    ...says("https://studio.buymeacoffee.com/webhooks/docs", { answer: "2xx", repeats: "automatic" }),
  },
  sample: {
    type: "donation.created",
    newId: () => String(integer(7)),
    content: {
      json: ({ id, type, now }) => ({
        type,
        live_mode: true,
        attempt: 1,
        created: seconds(now),
        event_id: id,
        data: {
          id: integer(6),
          amount: 5,
          object: "payment",
          status: "succeeded",
          message: "Thank you",
          currency: "EUR",
          refunded: "false",
          created_at: seconds(now),
          note_hidden: "true",
          refunded_at: null,
          support_note: "Thank you",
          support_type: "Supporter",
          supporter_name: "Test User",
          supporter_id: integer(6),
          supporter_email: "supporter@example.com",
          transaction_id: `pi_${upperBase36(24)}`,
          application_fee: "0.25",
          total_amount_charged: "5.25",
          coffee_count: 1,
          coffee_price: 5,
        },
      }),
    },
  },
});
