import { AppError } from "../errors.ts";
import { codingIn, decodeBody } from "../lib/content-coding.ts";
import { isInRanges } from "../lib/media-type.ts";
import type { RefusalReason, Verified } from "./bound-scheme.ts";
import { openContent } from "./content.ts";
import { type Identity, identify, requirePayload } from "./identity.ts";
import { contentTypeOf, payloadOfQuery } from "./query-payload.ts";
import type { RawRequest } from "./raw-request.ts";
import {
  DEFAULT_TOLERANCE_SECONDS,
  type HmacScheme,
  headersOf,
  isInPath,
  type Scheme,
  type SignedScheme,
} from "./schemes.ts";
import { createVerifier } from "./signature.ts";
import { readSignatures } from "./signature-items.ts";
import type { SignedRequest } from "./signed-text.ts";
import { isInQuery, pathsOf, type Source } from "./source.ts";
import { parseTimestamp } from "./timestamp.ts";

/** One check of a delivery. Checks that could not be made are left out. */
export interface DeliveryCheck {
  name:
    | "method"
    | "path"
    | "content_type"
    | "content_encoding"
    | "body"
    | "signature_header"
    | "timestamp"
    | "signature"
    | "payload";
  ok: boolean;
  detail: string;
}

/** Whether a delivery would be accepted, and why not. */
export interface DeliveryExplanation {
  source: string;
  /** Whether signature and time are right. */
  genuine: boolean;
  reason: RefusalReason | null;
  /** Where the secret is set that the delivery was signed with. */
  secret: string | null;
  /** Null if the delivery is not genuine, or its payload is not valid. */
  eventId: string | null;
  type: string | null;
  checks: DeliveryCheck[];
}

/** The address that a delivery was sent to. */
export interface SentTo {
  origin: string;
  target: string;
}

/** Decodes the body of a captured delivery, if its source accepts that. Throws `invalid_payload` or `payload_too_large`. */
export async function decodeRequest(source: Source, raw: RawRequest): Promise<RawRequest> {
  const coding = codingIn(raw.headers["content-encoding"]);
  if (!coding || !source.encoding?.includes(coding)) return raw;
  return { ...raw, decoded: await decodeBody(raw.body, coding, source.bodyLimitBytes) };
}

/** Explains which checks a captured delivery passes at a time in Unix milliseconds. Nothing shows a secret. */
export function explainDelivery(source: Source, raw: RawRequest, sentTo: SentTo, now: number): DeliveryExplanation {
  const { headers, method, body, decoded = body } = raw;
  const { methods = ["POST"] } = source;
  const inQuery = isInQuery(method);
  const contentType = contentTypeOf(method, headers);
  const content = openContent(inQuery ? payloadOfQuery(source, sentTo.target) : decoded, contentType);
  const signed = !inQuery && source.signedOver === "encoded" ? openContent(body, contentType) : content;
  const request = { method, ...sentTo, headers, content: signed };
  const verified = verify(source, request, now);
  const isGenuine = typeof verified === "object";
  const identity = isGenuine ? identityOf(source, verified, { ...request, content }) : null;
  return {
    source: source.name,
    genuine: isGenuine,
    reason: isGenuine ? null : verified,
    secret: isGenuine ? verified.secret.name : null,
    eventId: identity && "eventId" in identity ? identity.eventId : null,
    type: identity && "eventId" in identity ? identity.type : null,
    checks: [
      check(
        "method",
        (methods as string[]).includes(method),
        method,
        `${method}, but deliveries are ${methods.join(" or ")}`,
      ),
      pathCheck(source, sentTo),
      ...(inQuery
        ? []
        : [typeCheck(source, content.mediaType), ...encodingChecks(source, headers["content-encoding"])]),
      bodyCheck(source, raw),
      ...signatureChecks(source, request, verified, now),
      ...(identity ? [payloadCheck(identity)] : []),
    ],
  };
}

function verify(source: Source, request: SignedRequest, now: number): Verified | RefusalReason {
  const verifier = createVerifier(source);
  const read = verifier.read(request.headers, now);
  return "reason" in read ? read.reason : verifier.verify(request, read.candidates);
}

function check(name: DeliveryCheck["name"], ok: boolean, yes: string, no: string): DeliveryCheck {
  return { name, ok, detail: ok ? yes : no };
}

function pathCheck(source: Source, { target }: SentTo): DeliveryCheck {
  const { path, schemes } = source;
  const [sent = ""] = target.split("?");
  if (schemes.some(isInPath) && sent.startsWith(`${path}/`)) {
    const hasOneMore = !sent.slice(path.length + 1).includes("/");
    return check("path", hasOneMore, `${path}/…`, `it has several segments behind ${path}`);
  }
  const deliveries = schemes.every(isInPath) ? [] : pathsOf(source).deliveries;
  const expected = deliveries.length === 0 ? `${path}/SECRET` : deliveries.join(" and ");
  return check("path", deliveries.includes(sent), sent, `${sent}, but the source is at ${expected}`);
}

function typeCheck({ contentTypes }: Source, mediaType: string): DeliveryCheck {
  const named = mediaType || "none";
  return check(
    "content_type",
    isInRanges(mediaType, contentTypes),
    named,
    `${named}, expected ${contentTypes.join(" or ")}`,
  );
}

function encodingChecks({ encoding = [] }: Source, header: string | undefined): DeliveryCheck[] {
  const coding = codingIn(header);
  if (header === undefined || coding === null) return [];
  const isAccepted = coding !== undefined && encoding.includes(coding);
  const expected = encoding.length === 0 ? "none: set encoding of the source" : encoding.join(" or ");
  return [check("content_encoding", isAccepted, header, `${header}, expected ${expected}`)];
}

function bodyCheck({ bodyLimitBytes }: Source, { body, missingBytes }: RawRequest): DeliveryCheck {
  const size = `${body.length} bytes`;
  if (missingBytes > 0) return check("body", false, "", `${size}, but Content-Length announces ${missingBytes} more`);
  return check("body", body.length <= bodyLimitBytes, size, `${size}, but the limit is ${bodyLimitBytes}`);
}

function signatureChecks(
  source: Source,
  request: SignedRequest,
  verified: Verified | RefusalReason,
  now: number,
): DeliveryCheck[] {
  const places = [...new Set(source.schemes.map(placeOf))].join(", ");
  if (verified === "no_signature") return [check("signature_header", false, "", `nothing in ${places}`)];
  if (verified === "malformed_signature") {
    return [check("signature_header", false, "", `no signature of the expected form in ${places}`)];
  }
  const header = check("signature_header", true, `found in ${places}`, "");
  const time = timeOf(source, request, now);
  if (typeof verified === "string" && verified.startsWith("timestamp_")) {
    return [header, check("timestamp", false, "", time ?? "there is none of the expected form")];
  }
  return [
    header,
    ...(time === null ? [] : [check("timestamp", true, time, "")]),
    typeof verified === "object"
      ? check("signature", true, `made with ${verified.secret.name}`, "")
      : check(
          "signature",
          false,
          "",
          `made with none of the ${credentialsOf(source)}${claimsOf(source)}${hintOf(source, request, now)}`,
        ),
  ];
}

/** A token with a right signature is wrong, too, if it is not for this delivery. */
function claimsOf({ schemes }: Source): string {
  return schemes.some(({ type }) => type === "jwt" || type === "jws")
    ? ", or its claims are not those of this delivery"
    : "";
}

/** E.g. `2 secrets`. */
function credentialsOf({ secrets, keys = [] }: Source): string {
  const counts = [secrets.length > 0 && `${secrets.length} secrets`, keys.length > 0 && `${keys.length} keys`];
  const missing = keys.filter((key) => key.set && key.keys.length === 0).map(({ name }) => ` (${name} was never read)`);
  return (counts.filter((count) => count !== false).join(" and ") || "0 secrets") + missing.join("");
}

function placeOf(scheme: Scheme): string {
  const headers = headersOf(scheme);
  if (headers.length > 0) return headers.join(", ");
  const place = "signature" in scheme ? scheme.signature : scheme;
  if ("form" in place) return `field ${place.form} of the form`;
  if ("path" in place) return "the last segment of the path";
  if ("query" in place) return `${place.query} of the query`;
  if (!("json" in place)) return "";
  return !("each" in place) || place.each === undefined
    ? `${place.json} of the body`
    : `${place.json} of each of ${place.each}`;
}

/** The signed time and its distance from the clock; null if no scheme finds one. */
function timeOf({ schemes, toleranceSeconds }: Source, { headers }: SignedRequest, now: number): string | null {
  for (const scheme of schemes) {
    if (!("signature" in scheme)) continue;
    const time = timestampOf(scheme, headers);
    if (time === null) continue;
    const seconds = Math.floor(now / 1000) - Math.floor(time / 1000);
    const distance = seconds >= 0 ? `${seconds} s ago` : `${-seconds} s ahead`;
    const tolerance = toleranceSeconds ?? scheme.toleranceSeconds ?? DEFAULT_TOLERANCE_SECONDS;
    return `${new Date(time).toISOString()}, ${distance}; ${tolerance} s are allowed`;
  }
  return null;
}

function timestampOf(scheme: SignedScheme, headers: SignedRequest["headers"]): number | null {
  const { timestamp: place, signature } = scheme;
  if (!place || !("headers" in signature)) return null;
  const values = signature.headers.flatMap((name) => headers[name] ?? []);
  const sent = "header" in place ? headers[place.header] : readSignatures(scheme, values)[0]?.timestamp;
  return typeof sent === "string" ? parseTimestamp(sent, place.unit ?? "s") : null;
}

function identityOf(source: Source, verified: Verified, request: SignedRequest): Identity | AppError {
  const { headers, content } = request;
  try {
    requirePayload(source, content);
    return identify({ source, verified, headers, content });
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
}

function payloadCheck(identity: Identity | AppError): DeliveryCheck {
  if (!(identity instanceof AppError)) {
    return check("payload", true, `valid; its id is ${identity.isSigned ? "signed" : "not signed"}`, "");
  }
  const faults = identity.errors?.map(({ path, message }) => `${path || "the body"} ${message}`) ?? [];
  return check("payload", false, "", faults.join("; "));
}

/** Usual mistakes: each is a change after which a wrong signature may be right. */
function mistakes(source: Source, request: SignedRequest): [hint: string, Source, SignedRequest][] {
  const { method, headers, content, origin, target } = request;
  const text = content.bytes.toString("latin1");
  const withBody = (changed: string) => ({
    ...request,
    content: openContent(Buffer.from(changed, "latin1"), contentTypeOf(method, headers)),
  });
  const withKey = (key: HmacScheme["key"]) => ({
    ...source,
    schemes: source.schemes.map((scheme) => (scheme.type === "hmac" ? { ...scheme, key } : scheme)),
  });
  const other = origin.startsWith("https:") ? origin.replace("https:", "http:") : origin.replace("http:", "https:");
  return [
    ["the body without its last line end", source, withBody(text.replace(/\r?\n$/, ""))],
    ["the body with a line end at its end", source, withBody(`${text}\n`)],
    ["the body with LF instead of CRLF", source, withBody(text.replaceAll("\r\n", "\n"))],
    ["the body as compact JSON, so something wrote it anew", source, withBody(compact(text))],
    [`the address ${other}${target}`, source, { ...request, origin: other }],
    ["the secret decoded from hex", withKey("hex"), request],
    ["the secret decoded from base64", withKey("base64"), request],
    ["the secret decoded after whsec_", withKey("whsec"), request],
    ["the secret as text, not decoded", withKey("utf8"), request],
  ];
}

function compact(json: string): string {
  try {
    return Buffer.from(JSON.stringify(JSON.parse(Buffer.from(json, "latin1").toString("utf8")))).toString("latin1");
  } catch {
    return json;
  }
}

/** Names the mistake that explains a wrong signature, if it is a usual one. */
function hintOf(source: Source, request: SignedRequest, now: number): string {
  const found = mistakes(source, request).find(([, as, changed]) => typeof verify(as, changed, now) === "object");
  return found ? `; it is right for ${found[0]}` : "";
}
