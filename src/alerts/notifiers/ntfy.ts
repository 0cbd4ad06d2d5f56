import { lineOf, mainLinkOf, type Sender, severityOf, titleOf } from "../messages.ts";
import type { Message } from "../store.ts";
import type { Post } from "./post.ts";

/** A topic of ntfy. */
export interface Ntfy {
  kind: "ntfy";
  url: string;
  token: string | null;
}

const PRIORITIES = { info: "2", warning: "4", critical: "5" };

/** A message for ntfy (https://docs.ntfy.sh/publish). */
export function ntfyPost({ url, token }: Ntfy, message: Message, sender: Sender): Post {
  const severity = severityOf(message);
  const click = mainLinkOf(message, sender);
  const headers = {
    "content-type": "text/plain; charset=utf-8",
    title: headerText(titleOf(message, sender)),
    priority: severity === undefined ? "3" : PRIORITIES[severity],
    tags: severity === undefined ? "white_check_mark" : "rotating_light",
    ...(click !== "" && { click }),
    ...(token !== null && { authorization: `Bearer ${token}` }),
  };
  return { url, body: message.alerts.map(lineOf).join("\n"), headers };
}

/** A header has ASCII only. Other text is encoded as in RFC 2047, which ntfy reads. */
const headerText = (text: string) =>
  /^[\x20-\x7e]*$/.test(text) ? text : `=?UTF-8?B?${Buffer.from(text).toString("base64")}?=`;
