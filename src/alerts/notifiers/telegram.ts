import { printable } from "../../lib/printable.ts";
import { plainText, type Sender, shortened, titleOf } from "../messages.ts";
import type { Message } from "../store.ts";
import type { Post } from "./post.ts";

/** A chat of Telegram, to which a bot writes. */
export interface Telegram {
  kind: "telegram";
  /** The server of the Bot API. */
  url: string;
  token: string;
  /** The id of the chat, or `@` and the name of a channel. */
  chat: number | string;
}

const MAX_LENGTH = 4096;

/** A message for Telegram (https://core.telegram.org/bots/api#sendmessage). Without `parse_mode` the text has no markup. */
export function telegramPost({ url, token, chat }: Telegram, message: Message, sender: Sender): Post {
  const body = {
    chat_id: chat,
    text: shortened(`${titleOf(message, sender)}\n\n${plainText(message, sender)}`, MAX_LENGTH),
    link_preview_options: { is_disabled: true },
  };
  return {
    url: `${url.replace(/\/+$/, "")}/bot${token}/sendMessage`,
    body: JSON.stringify(body),
    refusalIn: (answer) => refusalIn(answer, token),
  };
}

/** What an answer says (https://core.telegram.org/bots/api#making-requests). Another server may show the path in it. */
function refusalIn(answer: string, token: string) {
  const { ok, description = "", parameters } = parsed(answer);
  if (ok === true) return null;
  const seconds = parameters?.retry_after;
  return {
    why: printable(shortened(String(description).replaceAll(token, "…"), 200)) || "not one of the Bot API",
    retryAfterMs: typeof seconds === "number" ? seconds * 1000 : undefined,
  };
}

interface Answer {
  ok?: unknown;
  description?: unknown;
  parameters?: { retry_after?: unknown } | null;
}

function parsed(answer: string): Answer {
  try {
    return (JSON.parse(answer) as Answer | null) ?? {};
  } catch {
    return {};
  }
}
