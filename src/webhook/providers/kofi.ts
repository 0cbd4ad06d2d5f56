import { randomUUID } from "node:crypto";
import { FORM } from "../content/content.ts";
import { iso } from "../provider/sample.ts";
import { provider, says } from "../provider.ts";

// A copy of the page on which Ko-fi shows its documentation to its users, https://ko-fi.com/manage/webhooks.
const DOCUMENTATION =
  "https://meta.discourse.org/t/is-it-possible-to-catch-a-request-from-a-third-party-service-in-a-theme-component/255047";

export default provider({
  title: "Ko-fi",
  docs: "https://help.ko-fi.com/hc/en-us/articles/360004162298-Does-Ko-fi-have-an-API-or-webhook",
  // The verification token that Ko-fi shows beside the URL.
  schemes: { type: "token", json: "verification_token" },
  covers: "none",
  id: ["body:message_id"],
  type: ["body:type"],
  dedupe: { mode: "id", why: "A repeat keeps its message_id.", source: DOCUMENTATION },
  contentTypes: [FORM],
  facts: says(DOCUMENTATION, { answer: "200", repeats: "automatic", schedule: "a reasonable number of times" }),
  sample: {
    type: "Donation",
    newId: randomUUID,
    content: {
      form: ({ id, type, now }) => {
        const data = {
          verification_token: "",
          message_id: id,
          timestamp: iso(now),
          type,
          is_public: true,
          from_name: "Ada Example",
          message: "Thank you",
          amount: "3.00",
          url: "https://ko-fi.com/Home/CoffeeShop?txid=00000000-1111-2222-3333-444444444444",
          email: "ada@example.com",
          currency: "USD",
          is_subscription_payment: false,
          is_first_subscription_payment: false,
          kofi_transaction_id: randomUUID(),
          shop_items: null,
          tier_name: null,
          shipping: null,
        };
        return { data: JSON.stringify(data) };
      },
    },
  },
});
