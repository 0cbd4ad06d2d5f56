import type { SignatureSettings } from "./bound-scheme.ts";
import { DIGESTS } from "./hmac.ts";
import type { DigestEncoding, DigestName, HmacScheme, KeyForm, TimeUnit } from "./schemes.ts";
import { createVerifier } from "./signature.ts";
import type { SignedRequest } from "./signed-text.ts";
import { hmacOfBody } from "./signing.ts";
import { parseTimestamp } from "./timestamp.ts";

type Layout = Pick<HmacScheme, "signature" | "format" | "label" | "algorithm" | "encodings">;
type Timestamp = ({ header: string } | { pair: string }) & { unit: TimeUnit };

// Every text is hashed for each secret.
const MAX_BODY_BYTES = 1024 * 1024;
const MAX_SIGNATURES = 8;
const MAX_TIMES = 4;
const MAX_IDS = 4;

/**
 * Finds out how a delivery was signed with one of the secrets of a source, by trying usual forms: an HMAC in any
 * header, of the body alone or with a time, an id or the address. Returns a `verify` block in YAML that accepts it;
 * null if none is found.
 */
export function proposedVerify(source: SignatureSettings, request: SignedRequest, now: number): string | null {
  if (source.secrets.length === 0 || request.content.bytes.length > MAX_BODY_BYTES) return null;
  for (const layout of layoutsIn(request).slice(0, MAX_SIGNATURES)) {
    for (const timestamp of [undefined, ...timesFor(layout, request).slice(0, MAX_TIMES)]) {
      for (const signed of textsOf(timestamp, request)) {
        for (const key of KEY_FORMS) {
          const scheme = hmacOfBody(layout.signature, { ...layout, signed, key, ...(timestamp && { timestamp }) });
          if (accepts(source, scheme, request, now)) return yamlOf(scheme, timestamp);
        }
      }
    }
  }
  return null;
}

const KEY_FORMS: readonly KeyForm[] = ["utf8", "hex", "base64", "whsec"];

/** Whether a scheme accepts a delivery, at any time. */
function accepts(source: SignatureSettings, scheme: HmacScheme, request: SignedRequest, now: number): boolean {
  const verifier = createVerifier({ ...source, schemes: [scheme], toleranceSeconds: Number.MAX_SAFE_INTEGER });
  return typeof verifier.judge(request, now) === "object";
}

/** Names and values of the headers. One with other characters in its name cannot be configured. */
function headersIn({ headers }: SignedRequest): [name: string, value: string][] {
  return Object.entries(headers).filter(
    (entry): entry is [string, string] => typeof entry[1] === "string" && /^[a-z0-9_-]+$/.test(entry[0]),
  );
}

/** The headers that may have a signature, and its form in each. */
function layoutsIn(request: SignedRequest): Layout[] {
  return headersIn(request).flatMap(([name, value]): Layout[] => {
    const signature = { headers: [name] };
    const whole = digestIn(value);
    if (whole) return [{ signature, format: "bare", ...whole }];
    const [, prefix = "", text = ""] = /^([A-Za-z][A-Za-z0-9._-]*(?:[=:]| +))(\S+)$/.exec(value) ?? [];
    const prefixed = digestIn(text);
    if (prefixed) return [{ signature, format: "bare", label: prefix, ...prefixed }];
    const [, version = "", first = ""] = /^([A-Za-z0-9_]+),([^ ,]+)(?: |$)/.exec(value) ?? [];
    const listed = digestIn(first);
    if (listed) return [{ signature, format: "list", label: version, ...listed }];
    return pairsIn(value).flatMap(([label, one]) => {
      const digest = digestIn(one);
      return digest ? [{ signature, format: "pairs" as const, label, ...digest }] : [];
    });
  });
}

function pairsIn(value: string): [key: string, value: string][] {
  return value.split(/[,;]/).flatMap((item): [string, string][] => {
    const [, key, text] = /^\s*([A-Za-z][A-Za-z0-9_-]*)=(\S+)\s*$/.exec(item) ?? [];
    return key === undefined || text === undefined ? [] : [[key, text]];
  });
}

/** The algorithm and the encoding of a text with the length of a digest. */
function digestIn(text: string): Pick<HmacScheme, "algorithm" | "encodings"> | null {
  const isHex = /^[0-9a-fA-F]+$/.test(text);
  const isPlain = /^[A-Za-z0-9+/]+={0,2}$/.test(text) && text.length % 4 === 0;
  if (!isHex && !/^[A-Za-z0-9+/_-]+={0,2}$/.test(text)) return null;
  const forms: [DigestEncoding, boolean, number][] = [
    ["hex", isHex, text.length / 2],
    ["base64-hex", isPlain, hexBytesIn(text)],
    ["base64", isPlain, Buffer.from(text, "base64").length],
    ["base64url", !/[+/]/.test(text), Buffer.from(text, "base64url").length],
  ];
  for (const [encoding, isForm, bytes] of forms) {
    const algorithm = (Object.keys(DIGESTS) as DigestName[]).find((name) => DIGESTS[name].digestBytes === bytes);
    if (isForm && algorithm) return { algorithm, encodings: [encoding] };
  }
  return null;
}

/** How many bytes a text has that is base64 of hex; none if it is none. */
function hexBytesIn(text: string): number {
  const hex = Buffer.from(text, "base64").toString("latin1");
  return /^[0-9a-f]+$/.test(hex) ? hex.length / 2 : 0;
}

/** Where a time may be that is signed: beside the signature, or in a header of its own. */
function timesFor({ signature, format }: Layout, request: SignedRequest): Timestamp[] {
  const [name = ""] = "headers" in signature ? signature.headers : [];
  const value = request.headers[name];
  const pairs = format === "pairs" && typeof value === "string" ? pairsIn(value) : [];
  return [
    ...pairs.flatMap(([pair, text]) => unitsOf(text).map((unit) => ({ pair, unit }))),
    ...headersIn(request).flatMap(([header, text]) => unitsOf(text).map((unit) => ({ header, unit }))),
  ];
}

const YEAR_2001_MS = 1e12;

/** The units in which a text is a time since 2001. */
function unitsOf(text: string): TimeUnit[] {
  const units: TimeUnit[] = ["s", "ms", "iso", "http"];
  return units.filter((unit) => (parseTimestamp(text, unit) ?? 0) >= YEAR_2001_MS).slice(0, 1);
}

const SEPARATORS = [".", ":", "\n", ""];
const FIRST: readonly string[] = ["v0", "v1"];

/** Texts that senders sign. */
function textsOf(timestamp: Timestamp | undefined, request: SignedRequest): string[] {
  const ids = headersIn(request).flatMap(([name]) => (/(?:^|[-_])id$/.test(name) ? `{header:${name}}` : []));
  const fields = [...request.content.form().keys()]
    .filter((name) => name === "payload")
    .map((name) => `{form:${name}}`);
  const bodies = ["{body}", ...fields];
  const time = timestamp && "{timestamp}";
  return bodies.flatMap((body) =>
    (time === undefined
      ? [[body]]
      : [
          [time, body],
          [body, time],
        ]
    ).flatMap((parts) => {
      const firsts = ["{url}", "{path}", "{method}", ...FIRST, ...ids.slice(0, MAX_IDS)];
      const all = [parts, ...firsts.map((first) => [first, ...parts]), ["{method}", "{path}", ...parts]];
      return [...new Set(all.flatMap((text) => SEPARATORS.map((separator) => text.join(separator))))];
    }),
  );
}

/** The block as the configuration file has it, without what is the default. */
function yamlOf(
  { signature, format, label, algorithm, encodings, signed, key }: HmacScheme,
  timestamp?: Timestamp,
): string {
  const [header = ""] = "headers" in signature ? signature.headers : [];
  const [encoding = "hex"] = encodings;
  const { unit, ...place } = timestamp ?? { unit: "s" };
  const block = {
    header,
    ...(algorithm !== "sha256" && { algorithm }),
    ...(encoding !== "hex" && { encoding }),
    ...(format === "bare" ? label !== undefined && { prefix: label } : { format, label }),
    ...(signed !== "{body}" && { signed }),
    ...(timestamp && { timestamp: { ...place, ...(unit !== "s" && { unit }) } }),
    ...(key !== "utf8" && { key }),
  };
  return `verify: ${inFlow(block)}`;
}

/** A value as YAML in one line. */
function inFlow(value: object): string {
  const members = Object.entries(value).map(
    ([name, member]) => `${name}: ${typeof member === "object" ? inFlow(member) : textIn(String(member))}`,
  );
  return `{ ${members.join(", ")} }`;
}

const textIn = (text: string) => (/^[a-z][a-z0-9-]*$/.test(text) ? text : JSON.stringify(text));
