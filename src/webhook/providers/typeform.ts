import { hex, isoSeconds, ulid } from "../provider/sample.ts";
import { provider, says } from "../provider.ts";
import { base64OfBody } from "../signature/signing.ts";

const MINUTE_MS = 60_000;

export default provider({
  title: "Typeform",
  docs: "https://www.typeform.com/developers/webhooks/secure-your-webhooks/",
  schemes: base64OfBody("typeform-signature", { label: "sha256=" }),
  id: ["body:event_id"],
  type: ["body:event_type"],
  facts: says(
    "https://github.com/api-evangelist/typeform/blob/9490622e5fab0aef5b31973fce1e15911f7c4972/asyncapi/typeform-asyncapi.yml",
    {
      answer: "any 2xx",
      answerSeconds: 30,
      repeats: "automatic",
      // The page also lists 3 and 4 hours, but says that there are 5 repeats.
      schedule:
        "after 5, 10 and 20 minutes, 1 and 2 hours; after 408, 423, 429 and 503 every 2 to 3 minutes for 10 hours",
      repeatsForSeconds: 12_900,
      disables: "at 404 or 410",
    },
  ),
  sample: {
    type: "form_response",
    newId: () => ulid().toUpperCase(),
    headers: () => ({ "user-agent": "Typeform Webhooks" }),
    content: {
      json: ({ id, type, now }) => {
        const rating = { id: "Kq3vTzB8mXwd", ref: "rating", type: "rating" };
        const email = { id: "pN6yRcF1hJgs", ref: "email", type: "email" };
        return {
          event_id: id,
          event_type: type,
          form_response: {
            form_id: "Wt5xQm9k",
            token: hex(32),
            landed_at: `${isoSeconds(now - 2 * MINUTE_MS)}Z`,
            submitted_at: `${isoSeconds(now)}Z`,
            hidden: { customer_id: "42" },
            calculated: { score: 0 },
            definition: {
              id: "Wt5xQm9k",
              title: "Customer survey",
              fields: [
                { ...rating, title: "How do you rate us?", properties: {} },
                { ...email, title: "Where can we reach you?", properties: {} },
              ],
              endings: [{ id: "DefaultTyScreen", ref: "default_tys", title: "Thank you", type: "thankyou_screen" }],
            },
            answers: [
              { type: "number", number: 4, field: rating },
              { type: "email", email: "customer@example.com", field: email },
            ],
            ending: { id: "DefaultTyScreen", ref: "default_tys" },
          },
        };
      },
    },
  },
});
