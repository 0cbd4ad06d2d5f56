import { FORM } from "../content/content.ts";
import { base62, integer, iso } from "../provider/sample.ts";
import { provider, says } from "../provider.ts";
import { SECRET_IN_URL } from "../signature/signing.ts";

export default provider({
  title: "Gumroad (signs nothing)",
  docs: "https://gumroad.com/ping",
  schemes: SECRET_IN_URL,
  covers: "none",
  // Sale, refund and dispute have one sale.
  id: [["body:resource_name", "body:sale_id"]],
  type: ["body:resource_name"],
  contentTypes: [FORM, "application/json"],
  facts: says(
    "https://github.com/antiwork/gumroad/blob/03e953c43f3879e79aa21d197957ca81aea8837c/app/sidekiq/post_to_individual_ping_endpoint_worker.rb",
    {
      // A repeat has the field `retry_count`.
      repeatChanges: ["body"],
      answer: "any 2xx",
      answerSeconds: 5,
      repeats: "automatic",
      schedule: "after 1, 3 and 10 minutes, for the statuses 499, 500, 502, 503 and 504; never after a time-out",
      repeatsForSeconds: 840,
    },
  ),
  sample: {
    type: "sale",
    newId: () => base62(22),
    content: {
      form: ({ id, type, now }) => ({
        seller_id: base62(22),
        product_id: base62(22),
        product_name: "Example book",
        permalink: "book",
        product_permalink: "https://example.gumroad.com/l/book",
        email: "ada@example.com",
        price: "500",
        currency: "usd",
        quantity: "1",
        order_number: String(integer(9)),
        sale_id: id,
        sale_timestamp: iso(now),
        refunded: "false",
        resource_name: type,
        disputed: "false",
        dispute_won: "false",
      }),
    },
  },
});
