/** How a sender proves that a delivery is genuine, as data. */
export type Scheme = HmacScheme | TokenScheme | BasicScheme;

/**
 * An HMAC. `signed` is the text that it covers, with placeholders:
 *
 * - `{body}`: the raw bytes; `{timestamp}`: the timestamp as sent
 * - `{url}`: the whole address; `{path}`: its path with the query; `{method}`: the method
 * - `{header:NAME}`: a request header; `{query:NAME}`: a parameter of the query; `{query-lower:NAME}`: in lower case
 * - `{form}`: the fields of a form, sorted by name, each name followed by its value; `{form:NAME}`: one of them
 * - `{json:PATH}`: a member of a JSON body
 * - `{pair:NAME}`: an item of the signature header; `{headers:NAME}`: the values, joined by dots, of the headers that this
 *   item lists
 */
export interface HmacScheme {
  type: "hmac";
  /** Where the signature is: headers in lower case, each of which may carry it, or one place in the body. */
  signature: { headers: readonly string[] } | { json: string } | { form: string };
  /**
   * `bare`: one signature. `pairs`: `key=value` items. `list`: `version,signature` items. `values`: several signatures.
   * `positional`: the timestamp, then signatures.
   */
  format: "bare" | "pairs" | "list" | "values" | "positional";
  /**
   * `bare` and `values`: may precede the first signature. `pairs` and `list`: the key or version of a signature; without
   * it, every pair is one.
   */
  label?: string;
  /** The separator of the items: a comma or semicolon by default; a blank for `list`. */
  separator?: string;
  /** The separator of a key and its value in a pair: "=" by default. */
  assignment?: string;
  /** The separator of groups of pairs, for a sender that repeats all pairs for each of its secrets. */
  groupSeparator?: string;
  algorithm: DigestName;
  encodings: readonly DigestEncoding[];
  signed: string;
  /** Texts that precede `signed`, each left out if one of its values is missing. */
  optional?: readonly string[];
  /** Absent if no time is signed. A pair or position is an item of the signature header. The default unit is seconds. */
  timestamp?: ({ header: string } | { pair: string } | { position: number }) & { unit?: TimeUnit };
  /** 300 by default. */
  toleranceSeconds?: number;
  key: KeyForm;
}

/** The secret itself, in a header. */
export interface TokenScheme {
  type: "token";
  /** In lower case. */
  header: string;
  /** May precede the secret. */
  label?: string;
}

/** HTTP Basic authentication (RFC 7617). The secret is `user:password`. */
export interface BasicScheme {
  type: "basic";
}

/** The hash functions that senders sign with. */
export type DigestName = "sha1" | "sha256" | "sha512";

export type DigestEncoding = "hex" | "base64" | "base64url";

/** `http` is the form of the header `Date`, e.g. `Thu, 04 Jan 2024 18:05:25 GMT`. */
export type TimeUnit = "s" | "ms" | "iso" | "http";

/**
 * How a secret becomes a key. `whsec`: base64 after `whsec_`; without that prefix, base64 or the text itself. `sha1`: the
 * SHA-1 of the text.
 */
export type KeyForm = "utf8" | "hex" | "base64" | "whsec" | "sha1";

/** A place in a delivery: a header, or a member of the body with dots between the names; a number counts in an array. */
export type Place = `header:${string}` | `body:${string}`;

/** The tolerance that most senders recommend. */
export const DEFAULT_TOLERANCE_SECONDS = 300;
