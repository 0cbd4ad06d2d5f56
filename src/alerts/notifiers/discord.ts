import { type Markup, markedUp, type Sender, shortened } from "../messages.ts";
import type { Message } from "../store.ts";
import type { Post } from "./post.ts";

/** A webhook of a channel of Discord, whose URL is secret. */
export interface Discord {
  kind: "discord";
  url: string;
}

const MAX_LENGTH = 2000;

/**
 * What Discord reads as markup (https://support.discord.com/hc/en-us/articles/210298617), on one line, where no heading,
 * list or quote begins. A URL stays text: in a link the other escapes would show.
 */
const escaped = (text: string) => text.replace(/[\\*_~`|<>[\]@#]|:(?=\/\/)/g, "\\$&").replace(/\s+/g, " ");

// Discord shows no preview of a URL in angle brackets.
const MARKUP: Markup = { bold: "**", escaped, link: (url) => `<${url}>` };

/** A message for Discord (https://docs.discord.com/developers/resources/webhook#execute-webhook). */
export function discordPost({ url: secret }: Discord, message: Message, sender: Sender): Post {
  const url = new URL(secret);
  // Without it, Discord also answers 204 to a message that it does not keep.
  url.searchParams.set("wait", "true");
  const content = shortened(markedUp(message, sender, MARKUP), MAX_LENGTH);
  return { url: url.href, body: JSON.stringify({ content, allowed_mentions: { parse: [] } }) };
}
