import { mainLinkOf, plainText, type Sender, severityOf, titleOf } from "../messages.ts";
import type { Message } from "../store.ts";
import type { Post } from "./post.ts";

/** A server of Gotify, and the token of an application there. */
export interface Gotify {
  kind: "gotify";
  url: string;
  token: string;
}

// From 4 on the app makes a sound, from 8 on it also vibrates (https://gotify.net/docs/priority).
const PRIORITIES = { info: 2, warning: 5, critical: 8 };
const RESOLVED = 4;

/** A message for Gotify (https://gotify.net/api-docs, https://gotify.net/docs/msgextras). */
export function gotifyPost({ url: server, token }: Gotify, message: Message, sender: Sender): Post {
  const url = new URL(server);
  url.pathname = url.pathname.replace(/\/*$/, "/message");
  const severity = severityOf(message);
  const link = mainLinkOf(message, sender);
  const body = {
    title: titleOf(message, sender),
    message: plainText(message, sender),
    priority: severity === undefined ? RESOLVED : PRIORITIES[severity],
    extras: {
      "client::display": { contentType: "text/plain" },
      ...(link !== "" && { "client::notification": { click: { url: link } } }),
    },
  };
  return { url: url.href, body: JSON.stringify(body), headers: { "x-gotify-key": token } };
}
