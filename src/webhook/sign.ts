import { randomBytes } from "node:crypto";
import { type Content, FORM, openContent } from "./content.ts";
import { createHmac } from "./hmac.ts";
import type { HmacScheme, Scheme } from "./schemes.ts";
import { keysOf } from "./secret-key.ts";
import { type HeaderItems, parseSignedText, readSignedText } from "./signed-text.ts";
import { formatTimestamp } from "./timestamp.ts";

/** A delivery before it is signed. */
export interface UnsignedDelivery {
  method: string;
  /** As the receiver sees them: scheme and host, then path and query. */
  origin: string;
  target: string;
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
  mediaType: string;
  body: Buffer;
}

/** What a sender adds or changes by signing. */
export interface SignedDelivery {
  headers: Record<string, string>;
  body: Buffer;
}

/**
 * Signs a delivery as its sender does, with the time `now` in Unix milliseconds. Adds the signed headers that are missing.
 * Throws an error if the secret does not have the form of the scheme, or the delivery lacks something else that is signed.
 */
export function signDelivery(scheme: Scheme, secret: string, delivery: UnsignedDelivery, now: number): SignedDelivery {
  const { headers, body } = delivery;
  switch (scheme.type) {
    case "token":
      return { headers: { ...headers, [scheme.header]: `${scheme.label ?? ""}${secret}` }, body };
    case "basic":
      return { headers: { ...headers, authorization: `Basic ${Buffer.from(secret).toString("base64")}` }, body };
    case "hmac":
      return signHmac(scheme, secret, delivery, now);
  }
}

function signHmac(scheme: HmacScheme, secret: string, delivery: UnsignedDelivery, now: number): SignedDelivery {
  const [key] = keysOf(scheme.key, secret);
  if (!key) throw new Error(`the secret is not ${scheme.key}`);
  const { timestamp: place } = scheme;
  const timestamp = place ? formatTimestamp(now, place.unit ?? "s") : "";
  const headers = { ...delivery.headers };
  if (place && "header" in place) headers[place.header] = timestamp;
  const pairs = pairsOf(scheme, headers);
  const items: HeaderItems = { timestamp, pair: (name) => pairs[name] };
  const signed = parseSignedText(scheme.signed);
  for (const name of signed.coveredBy(items).headers) headers[name] ??= `msg_${randomBytes(12).toString("hex")}`;

  const content = openContent(delivery.body, delivery.mediaType);
  const request = { ...delivery, headers, content };
  const optional = (scheme.optional ?? []).flatMap(
    (text) => readSignedText(parseSignedText(text), request, items) ?? [],
  );
  const pieces = readSignedText(signed, request, items);
  if (pieces === null) throw new Error(`the delivery lacks a part of ${scheme.signed}`);
  const digest = createHmac(scheme.algorithm, key)(...optional, ...pieces);
  const text = Buffer.from(digest, "hex").toString(scheme.encodings[0]);
  const value = headerValue(scheme, text, items, pairs);
  const { signature } = scheme;
  if (!("headers" in signature)) return { headers, body: withSignature(content, signature, value) };
  headers[signature.headers[0] as string] = value;
  return { headers, body: delivery.body };
}

/** The pairs of the signature header besides time and signature: Hook0 lists the names of the signed headers. */
function pairsOf({ signed }: HmacScheme, headers: Record<string, string>): Record<string, string> {
  const name = /\{headers:([^}]+)\}/.exec(signed)?.[1];
  return name === undefined
    ? {}
    : {
        [name]: Object.keys(headers)
          .filter((header) => header.startsWith("x-"))
          .join(" "),
      };
}

function headerValue(scheme: HmacScheme, digest: string, items: HeaderItems, pairs: Record<string, string>): string {
  const { format, label, separator = ",", assignment = "=", timestamp } = scheme;
  switch (format) {
    case "list":
      return `${label},${digest}`;
    case "positional":
      return `${items.timestamp}${separator}${digest}`;
    case "pairs":
      return [
        ...(timestamp && "pair" in timestamp ? [[timestamp.pair, items.timestamp]] : []),
        ...Object.entries(pairs),
        [label ?? "public_key", digest],
      ]
        .map((pair) => pair.join(assignment))
        .join(separator);
    default:
      return `${label ?? ""}${digest}`;
  }
}

/** Puts the signature into the body. */
function withSignature(content: Content, place: { json: string } | { form: string }, value: string): Buffer {
  if ("form" in place) {
    const form = new URLSearchParams(content.mediaType === FORM ? content.form() : {});
    form.set(place.form, value);
    return Buffer.from(form.toString());
  }
  const names = place.json.split(".");
  const last = names.pop() as string;
  const body = JSON.parse(content.bytes.toString("utf8")) as Record<string, unknown>;
  let object = body;
  for (const name of names) object = object[name] as Record<string, unknown>;
  object[last] = value;
  return Buffer.from(JSON.stringify(body));
}
