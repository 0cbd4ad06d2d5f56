import { provider } from "../provider.ts";

export default provider({
  title: "Telegram",
  docs: "https://core.telegram.org/bots/api#setwebhook",
  schemes: { type: "token", header: "x-telegram-bot-api-secret-token" },
  covers: "none",
  id: ["body:update_id"],
  evidence: { kind: "sdk", by: "grammy@1.46.0" },
});
