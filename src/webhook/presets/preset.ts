/**
 * How a sender signs, as data. `signed` is the text that the HMAC covers: `{body}` the raw bytes, `{timestamp}` the timestamp as
 * sent, `{header:NAME}` a request header, `{url}` the whole address, `{path}` its path with query, `{method}` the method,
 * `{query:NAME}` a parameter of the query, `{form}` the fields of a form, sorted by name, each name followed by its value,
 * `{form:NAME}` one of them, `{json:PATH}` a member of a JSON body, `{pair:NAME}` an item of the signature header, `{headers:NAME}` the
 * values of the headers that such an item lists, joined by dots. Anything else is literal.
 */
export interface Scheme {
  /** Where the signature lies: headers in lower case, each of which may carry it, or one place in the body. */
  signature: { headers: readonly string[] } | { json: string } | { form: string };
  /**
   * `bare`: the value is one signature. `pairs`: `key=value` items. `list`: `version,signature` items. `values`: several
   * signatures. `positional`: the timestamp, then signatures.
   */
  format: "bare" | "pairs" | "list" | "values" | "positional";
  /**
   * `bare` and `values`: may stand before the first signature. `pairs` and `list`: the key or version that marks a signature;
   * without it, every pair is one.
   */
  label?: string;
  /** Between the items: "," unless given; a blank for `list`. */
  separator?: string;
  /** Between the key and the value of a pair: "=" unless given. */
  assignment?: string;
  /** Between groups of pairs, when the sender repeats all of them for each of its secrets. */
  groupSeparator?: string;
  algorithm: "sha1" | "sha256" | "sha512";
  encodings: readonly ("hex" | "base64" | "base64url")[];
  signed: string;
  /** Absent when no time is signed. A pair is an item of the signature header. The unit is seconds unless given. */
  timestamp?:
    | { header: string; unit?: TimeUnit }
    | { pair: string; unit?: TimeUnit }
    | { position: number; unit?: TimeUnit };
  /** 300 unless given. */
  toleranceSeconds?: number;
  /** How the secret becomes the key. `whsec`: base64 behind `whsec_`, or its text. `sha1`: the SHA-1 of the text. */
  key: "utf8" | "hex" | "base64" | "whsec" | "sha1";
}

/** `http`: a date as in the header `Date`, e.g. `Thu, 04 Jan 2024 18:05:25 GMT`. */
export type TimeUnit = "s" | "ms" | "iso" | "http";

/** A place in a delivery: `header:NAME`, `body:PATH` (members joined by dots, a number for an array), or `form:NAME`. */
export type Place = `header:${string}` | `body:${string}` | `form:${string}`;

/** How a known provider signs its deliveries, and where it names them. */
export interface Preset {
  title: string;
  /** The provider's page. */
  docs: string;
  /** Any one of them is enough. */
  schemes: readonly Scheme[];
  /** What a signature covers of the body: all, a part that the provider chose, or nothing. */
  covers: "body" | "part" | "none";
  /**
   * What proves that the preset is right: a vector that somebody published, one that the provider's own package made, or
   * only one that was made here.
   */
  evidence: "published" | "sdk" | "self-signed";
  /** Where the id and the type of an event lie; the first that is there counts. Without them the usual places are looked at. */
  id?: readonly Place[];
  type?: readonly Place[];
  /** Media types that it sends, when not only `application/json`. */
  contentTypes?: readonly string[];
  /** The largest body that it sends, when over 1 MB; in bytes. */
  bodyLimitBytes?: number;
}
