import { splitTarget } from "../../lib/request-target.ts";
import { contentTypeOf, isInQuery } from "../../webhook/content/body.ts";
import { openContent } from "../../webhook/content/content.ts";
import { wasRedacted } from "../../webhook/content/redact.ts";
import type { RefusalReason, Verified } from "../../webhook/signature/bound-scheme.ts";
import type { HmacScheme } from "../../webhook/signature/schemes.ts";
import { createVerifier } from "../../webhook/signature/signature.ts";
import type { SignedRequest } from "../../webhook/signature/signed-text.ts";
import type { Source } from "../../webhook/source.ts";
import { payloadOfQuery } from "../../webhook/stages/stages.ts";

/** A usual mistake: a change after which a wrong signature may be right. */
interface Mistake {
  /** What has changed. `secret` is the name of the one that is right then. */
  change(secret: string): string;
  remedy(secret: string): string;
  source: Source;
  request: SignedRequest;
}

const ON_ITS_WAY = "let everything between the sender and the server pass the body as it is";

function bodyMistakes(source: Source, request: SignedRequest): Mistake[] {
  const { method, headers, content } = request;
  const text = content.bytes.toString("latin1");
  const changes: [change: string, body: string][] = [
    ["the body without its last line end", text.replace(/\r?\n$/, "")],
    ["the body with a line end at its end", `${text}\n`],
    ["the body with LF instead of CRLF", text.replaceAll("\r\n", "\n")],
    ["the body as compact JSON, so something wrote it anew", compact(text)],
  ];
  return changes.map(([change, body]) => ({
    change: () => change,
    remedy: () => ON_ITS_WAY,
    source,
    request: { ...request, content: openContent(Buffer.from(body, "latin1"), contentTypeOf(method, headers)) },
  }));
}

function addressMistake(source: Source, request: SignedRequest): Mistake {
  const { origin, target } = request;
  const other = origin.startsWith("https:") ? origin.replace("https:", "http:") : origin.replace("http:", "https:");
  return {
    change: () => `the address ${other}${target}`,
    remedy: () => "set PUBLIC_URL, or let the proxy send X-Forwarded-Proto",
    source,
    request: { ...request, origin: other },
  };
}

function queryMistakes(source: Source, request: SignedRequest): Mistake[] {
  return ordersOf(request.target).map((target) => ({
    change: () => `the query in another order: ${target}`,
    remedy: () => "let everything between the sender and the server pass the address as it is",
    source,
    request: withTarget(source, request, target),
  }));
}

function withTarget(source: Source, request: SignedRequest, target: string): SignedRequest {
  if (!isInQuery(request.method)) return { ...request, target };
  return { ...request, target, content: openContent(payloadOfQuery(source, target), request.content.contentType) };
}

// 24 orders, each with a hash of the body. Of a longer query only the sorted ones are tried.
const MAX_PERMUTED = 4;

/** A target with its parameters in other orders. */
function ordersOf(target: string): string[] {
  const [path, query = ""] = splitTarget(target);
  const fields = query.split("&");
  const sorted = fields.toSorted();
  const orders = fields.length <= MAX_PERMUTED ? permutations(fields) : [sorted, sorted.toReversed()];
  const targets = orders.map((order) => `${path}?${order.join("&")}`);
  return [...new Set(targets)].filter((other) => other !== target && fields.length > 1);
}

function permutations<Item>(items: readonly Item[]): Item[][] {
  if (items.length < 2) return [[...items]];
  return items.flatMap((first, at) => permutations(items.toSpliced(at, 1)).map((rest) => [first, ...rest]));
}

const KEY_FORMS: [key: HmacScheme["key"], change: string][] = [
  ["hex", "decoded from hex"],
  ["base64", "decoded from base64"],
  ["whsec", "decoded after whsec_"],
  ["utf8", "as text, not decoded"],
];

function keyMistakes(source: Source, request: SignedRequest): Mistake[] {
  const remedy = (key: string) =>
    source.preset === null
      ? `set key: ${key} in verify`
      : `take the preset that the sender belongs to, or verify with key: ${key}`;
  return KEY_FORMS.map(([key, change]) => ({
    change: (secret) => `${secret} ${change}`,
    remedy: () => remedy(key),
    source: {
      ...source,
      schemes: source.schemes.map((scheme) => (scheme.type === "hmac" ? { ...scheme, key } : scheme)),
    },
    request,
  }));
}

const PREFIX = "whsec_";

/** Senders show a secret with the prefix. Of some it belongs to the key, and of others it does not. */
function prefixMistakes(source: Source, request: SignedRequest): Mistake[] {
  const changed = (change: (value: string) => string): Source => ({
    ...source,
    secrets: source.secrets.map((secret) => ({ ...secret, value: change(secret.value) })),
  });
  return [
    {
      change: (secret) => `${secret} with ${PREFIX} before it`,
      remedy: (secret) => `write ${PREFIX} before the value of ${secret}`,
      source: changed((value) => PREFIX + value),
      request,
    },
    {
      change: (secret) => `${secret} without its ${PREFIX}, as text`,
      remedy: (secret) => `remove ${PREFIX} from the value of ${secret}`,
      source: changed((value) => value.replace(PREFIX, "")),
      request,
    },
  ];
}

/** A signature that may be right, but of which the source wants more. */
function coverMistakes(source: Source, request: SignedRequest): Mistake[] {
  if (!source.schemes.some(({ type }) => type === "httpsig")) return [];
  const schemes = source.schemes.map((scheme) =>
    scheme.type === "httpsig" ? { ...scheme, isBodyOptional: true as const } : scheme,
  );
  return [
    {
      change: () => "all but the body, which it does not cover",
      remedy: () => "let the sender sign a digest of the body, or set unsignedBody in verify",
      source: { ...source, schemes },
      request,
    },
  ];
}

function compact(json: string): string {
  try {
    return Buffer.from(JSON.stringify(JSON.parse(Buffer.from(json, "latin1").toString("utf8")))).toString("latin1");
  } catch {
    return json;
  }
}

/** Names the mistake that explains a wrong signature, and what to do; null if it is no usual one. */
export function hintOf(source: Source, request: SignedRequest, now: number): string | null {
  if (wasRedacted(request.content.bytes))
    return "the body was redacted, so that nothing verifies it any more: capture another delivery";
  const mistakes = [
    ...bodyMistakes(source, request),
    addressMistake(source, request),
    ...queryMistakes(source, request),
    ...prefixMistakes(source, request),
    ...keyMistakes(source, request),
    ...coverMistakes(source, request),
  ];
  for (const { change, remedy, source: as, request: changed } of mistakes) {
    const found = verify(as, changed, now);
    if (typeof found === "object") return `it is right for ${change(found.secret.name)}: ${remedy(found.secret.name)}`;
  }
  return null;
}

/** How a delivery to a source was signed at a time, or why it is not genuine. */
export function verify(source: Source, request: SignedRequest, now: number): Verified | RefusalReason {
  return createVerifier(source).judge(request, now);
}
