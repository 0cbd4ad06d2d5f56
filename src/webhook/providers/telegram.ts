import { provider, says } from "../provider.ts";

export default provider({
  title: "Telegram",
  docs: "https://core.telegram.org/bots/api#setwebhook",
  schemes: { type: "token", header: "x-telegram-bot-api-secret-token" },
  covers: "none",
  id: ["body:update_id"],
  facts: {
    ...says(
      "https://github.com/tdlib/telegram-bot-api/blob/01a3679c0bbf9bbba03d1d3e20f621fa4becddcc/telegram-bot-api/WebhookActor.cpp",
      {
        sameBytes: false,
        repeatChanges: [],
        answer: "any 2xx; a body with `method` is a call of the Bot API",
        repeats: "automatic",
        schedule: "at doubled intervals of up to 1 to 2 minutes, or as Retry-After says",
        disables: "after 23 hours of answers with 410",
      },
    ),
    ...says("https://telegram-bot-sdk.com/docs/guides/webhook-updates/", { keepsDays: 1 }),
  },
  evidence: { kind: "sdk", by: "grammy@1.46.0" },
});
