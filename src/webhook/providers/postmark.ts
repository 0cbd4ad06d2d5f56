import { provider, says } from "../provider.ts";

export default provider({
  title: "Postmark",
  docs: "https://postmarkapp.com/developer/webhooks/webhooks-overview",
  schemes: { type: "basic" },
  covers: "none",
  type: ["body:RecordType"],
  // After 403 it does not send the delivery again.
  refusedStatus: 401,
  facts: {
    ...says("https://postmarkapp.com/support/article/understanding-inbound-webhook-retries-in-postmark", {
      answer: "200; 403 stops the repeats",
      repeats: "automatic",
    }),
    ...says(
      "https://github.com/api-evangelist/postmark/blob/ea1881de8a128bf3e19749e7383d10a8b3cc9450/conventions/postmark-conventions.yml",
      {
        schedule:
          "after 1, 5 and 15 minutes; bounces and inbound after 1, 5, 10, 10, 10, 15 and 30 minutes, 1, 2 and 6 hours",
        repeatsForSeconds: 1260,
        // What is inbound has no type.
        repeatsByType: { Bounce: 37_260 },
      },
    ),
    // Attachments of 35 MB, which are in base64, and the texts of a message.
    ...says("https://postmarkapp.com/support/article/1056-what-are-the-attachment-and-email-size-limits", {
      maxBodyBytes: 50_000_000,
    }),
  },
});
