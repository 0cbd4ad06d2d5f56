import { signStandard } from "../../lib/standard-webhooks.ts";
import { alertmanagerForm, messageId, type Sender } from "../messages.ts";
import type { Message } from "../store.ts";
import type { Post } from "./post.ts";

/** A URL that takes the form of Alertmanager's webhook. */
export interface Webhook {
  kind: "webhook";
  name: string;
  url: string;
  key: Uint8Array | null;
}

/** A message in Alertmanager's form, signed if there is a key. */
export function webhookPost({ name, url, key }: Webhook, message: Message, sender: Sender, now: number): Post {
  const body = JSON.stringify(alertmanagerForm(message, sender, name));
  return { url, body, headers: key === null ? {} : { ...signStandard(messageId(message), body, key, now) } };
}
