import { type Markup, markedUp, type Sender } from "../messages.ts";
import type { Message } from "../store.ts";
import type { Post } from "./post.ts";

/** An incoming webhook of Slack, or of another chat that takes its form. */
export interface Slack {
  kind: "slack";
  url: string;
}

/** Slack reads `&`, `<` and `>` as markup (https://docs.slack.dev/messaging/formatting-message-text). */
const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

const MARKUP: Markup = { bold: "*", escaped, link: (url) => `<${escaped(url)}|Open>` };

/** A message for Slack. */
export const slackPost = ({ url }: Slack, message: Message, sender: Sender): Post => ({
  url,
  body: JSON.stringify({ text: markedUp(message, sender, MARKUP) }),
});
