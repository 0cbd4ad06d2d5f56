import { hash } from "node:crypto";
import { isLoopback } from "../../http/listen.ts";
import type { Reading } from "./reading.ts";

/** The URL of a document that decides whom to trust. Null if it has a fault, which says `what` the document is. */
export function documentUrl(text: string, what: string, reading: Reading): URL | null {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol))
    return reading.fault("found a URL that is not valid, expected https://HOST/PATH");
  if (url.username !== "" || url.password !== "")
    return reading.fault("found a URL with a password, expected one without");
  if (url.protocol === "http:" && !isLoopback(url.hostname)) {
    return reading.fault(`found http, by which anybody on the way can change ${what}, expected https`);
  }
  return url;
}

/** Names the copy of a document. Half of the digest suffices. */
export function documentId(place: string): string {
  return hash("sha256", place).slice(0, 32);
}

/** The name of a document in messages and logs. Its query may have a password. */
export function nameOfUrl(url: URL): string {
  return `${url.origin}${url.pathname}${url.search === "" ? "" : "?…"}`;
}
