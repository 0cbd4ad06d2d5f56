import type { Sender } from "./messages.ts";
import { type Discord, discordPost } from "./notifiers/discord.ts";
import { type Email, sendEmail } from "./notifiers/email.ts";
import { type Exec, runProgram } from "./notifiers/exec.ts";
import { type Gotify, gotifyPost } from "./notifiers/gotify.ts";
import { type Ntfy, ntfyPost } from "./notifiers/ntfy.ts";
import { type Post, post } from "./notifiers/post.ts";
import { type Slack, slackPost } from "./notifiers/slack.ts";
import { type Telegram, telegramPost } from "./notifiers/telegram.ts";
import { type Webhook, webhookPost } from "./notifiers/webhook.ts";
import type { Message } from "./store.ts";

/** Where alerts are sent. `name` is shown and stored; URLs may be secret. */
export type Notifier = { name: string } & (Webhook | Slack | Ntfy | Gotify | Telegram | Discord | Email | Exec);

/** Sends a message to a notifier. Throws with a text for people if that failed. */
export type Notify = (notifier: Notifier, message: Message, signal: AbortSignal) => Promise<void>;

/** Creates the sending of messages. `environment` is that of programs. */
export function createNotify(
  sender: Sender,
  environment: () => NodeJS.ProcessEnv,
  now: () => number = Date.now,
): Notify {
  return (notifier, message, signal) => {
    const send = (request: Post) => post(request, signal, now);
    switch (notifier.kind) {
      case "webhook":
        return send(webhookPost(notifier, message, sender, now()));
      case "slack":
        return send(slackPost(notifier, message, sender));
      case "ntfy":
        return send(ntfyPost(notifier, message, sender));
      case "gotify":
        return send(gotifyPost(notifier, message, sender));
      case "telegram":
        return send(telegramPost(notifier, message, sender));
      case "discord":
        return send(discordPost(notifier, message, sender));
      case "email":
        return sendEmail(notifier, message, sender, signal);
      case "exec":
        return runProgram(notifier, message, sender, environment(), signal);
    }
  };
}
