import { AppError } from "../../errors.ts";
import { mediaTypeIn } from "../../lib/header-value.ts";
import { findAddress } from "../../webhook/addresses/allowed-addresses.ts";
import { isInQuery } from "../../webhook/content/body.ts";
import type { Content } from "../../webhook/content/content.ts";
import { openStored } from "../../webhook/content/stored-content.ts";
import { type RawRequest, type SentTo, withUserOf } from "../../webhook/held/raw-request.ts";
import type { RefusalReason, Verified } from "../../webhook/signature/bound-scheme.ts";
import { proposedVerify } from "../../webhook/signature/proposed-verify.ts";
import {
  DEFAULT_TOLERANCE_SECONDS,
  headersOf,
  isInPath,
  type Scheme,
  type SignedScheme,
} from "../../webhook/signature/schemes.ts";
import { readSignatures } from "../../webhook/signature/signature-items.ts";
import type { SignedRequest } from "../../webhook/signature/signed-text.ts";
import { parseTimestamp } from "../../webhook/signature/timestamp.ts";
import { below, pathsOf, type Source } from "../../webhook/source.ts";
import { identifiedEvent } from "../../webhook/stages/event.ts";
import type { Identity } from "../../webhook/stages/identity.ts";
import { type Delivery, deliveryOf, payloadOfQuery, type StageName, stagesOf } from "../../webhook/stages/stages.ts";
import type { Route } from "../../worker/route.ts";
import { explainRouting, type RouteVerdict, reasonOf } from "../../worker/routing.ts";
import { hintOf, verify } from "./mistakes.ts";
import { partsOf, type Rehearsal, type RehearsalOptions, rehearse, UNKNOWN } from "./rehearsal.ts";

/** One check of a delivery. Checks that could not be made are left out. */
interface DeliveryCheck {
  name:
    | "method"
    | "path"
    | "content_type"
    | "content_encoding"
    | "body"
    | "address"
    | "signature_header"
    | "timestamp"
    | "signature"
    | "payload"
    | "handshake"
    | "identity"
    | "routes"
    | "answer";
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
  /** Null if the delivery is not genuine, its payload is not valid, or it is a handshake. */
  eventId: string | null;
  type: string | null;
  checks: DeliveryCheck[];
  /** What the server would answer. */
  answer: Pick<Rehearsal, "status" | "code" | "reason">;
  /** The kind of handshake that the server would answer instead of storing an event; null if it is none. */
  handshake: string | null;
  /** Which routes would take the event, and why the others would not; empty without an event. */
  routes: RouteVerdict[];
  /**
   * A `verify` block in YAML that would accept the signature if the one of the source does not; null if none is found.
   */
  verify: string | null;
}

/** What a delivery is explained with. */
export interface ExplainOptions extends RehearsalOptions {
  routes: readonly Route[];
}

/**
 * Explains which checks of the server a captured delivery passes, in their order, and what the server would answer. It
 * goes on behind a check that fails. Nothing is stored, and nothing shows a secret.
 */
export async function explainDelivery(
  source: Source,
  captured: RawRequest,
  options: ExplainOptions,
): Promise<DeliveryExplanation> {
  const raw = withUserOf(captured, options.sentTo);
  const rehearsal = await rehearse(source, raw, options);
  const { sentTo, status, code } = rehearsal;
  const explained = await throughStages(source, raw, rehearsal, options);
  const { delivery, refusals, found, isRetired } = explained;
  const inTime = delivery.verified;
  const isGenuine = typeof inTime === "object" && !isRetired;
  const handshake = handshakeIn(source, rehearsal);
  const identity =
    typeof found === "object" && !handshake
      ? (refusals.payload ?? (await attempt(() => identifiedEvent(source, { ...delivery, verified: found }))))
      : null;
  const event = identity instanceof AppError ? null : identity;
  const verdicts = event
    ? explainRouting(options.routes, { ...event, source: source.name }, openStored(event.stored))
    : [];
  const stored = isGenuine ? event : null;
  const checks: DeliveryCheck[] = [
    methodCheck(source, raw.method, handshake),
    pathCheck(source, sentTo, handshake),
    // One that is not genuine is answered before the other stages.
    ...(handshake && !isGenuine
      ? shown(explained, ["address"])
      : shown(explained, Object.keys(refusals) as StageName[])),
    ...(identity ? [payloadCheck(identity, delivery.payload)] : []),
    ...(handshake ? [check("handshake", true, `${handshake}: it is answered, and no event is stored`, "")] : []),
    ...(event ? [check("identity", true, identityText(event), ""), routesCheck(verdicts)] : []),
  ];
  return {
    source: source.name,
    genuine: isGenuine,
    reason: isRetired ? "secret_retired" : typeof inTime === "string" ? inTime : null,
    secret: isGenuine ? inTime.secret.name : null,
    eventId: stored?.eventId ?? null,
    type: stored?.type ?? null,
    checks: [...checks, ...answerChecks(checks, rehearsal)],
    answer: { status, code, reason: rehearsal.reason },
    handshake,
    routes: verdicts,
    verify: typeof found === "string" && !handshake ? proposedVerify(source, delivery, options.now) : null,
  };
}

/** A captured delivery that has been through the stages, with what explains them. */
interface Explained {
  source: Source;
  raw: RawRequest;
  delivery: Delivery;
  /** Why each stage refuses it; null if it does not. */
  refusals: Record<StageName, AppError | null>;
  /** As `verified` of the delivery. Without its time, the rest of an old one can still be checked. */
  found: Verified | RefusalReason;
  isRetired: boolean;
  /** The sender's address; null if it is not known. */
  address: string | null;
  lists: ExplainOptions["addressLists"];
}

/** The kind of handshake that the server would answer; null if the request is none. */
function handshakeIn({ handshake }: Source, { status, event }: Rehearsal): string | null {
  return (status < 300 && event === null && handshake?.kind) || null;
}

/** Lets a captured delivery through all stages, also behind one that refuses it. */
async function throughStages(
  source: Source,
  raw: RawRequest,
  { address, sentTo, reason }: Rehearsal,
  { addressLists, now }: ExplainOptions,
): Promise<Explained> {
  const { method, rawHeaders, body, missingBytes } = raw;
  const bytes = isInQuery(method) ? payloadOfQuery(source, sentTo.target) : body;
  const announced = body.length + missingBytes;
  const arrived = {
    method,
    ...sentTo,
    headers: { ...raw.headers, "content-length": String(announced) },
    rawHeaders,
    address: address ?? UNKNOWN,
    requestId: "",
    now: () => now,
    async readBody() {
      if (announced > source.bodyLimitBytes) throw new AppError("payload_too_large");
      return bytes;
    },
  };
  const delivery = deliveryOf(arrived, bytes);
  // The rehearsal knows whether the secret is retired. To ask again would be a use of it.
  const stages = stagesOf(source, { ...partsOf(addressLists), acceptsSecret: async () => true });
  const refusals: [StageName, AppError | null][] = [];
  for (const { name, pass } of stages) refusals.push([name, (await attempt(() => pass(delivery))) ?? null]);
  const timeless = { ...source, toleranceSeconds: Number.MAX_SAFE_INTEGER };
  return {
    source,
    raw,
    delivery,
    refusals: Object.fromEntries(refusals) as Explained["refusals"],
    found: isOfTime(delivery.verified) ? verify(timeless, delivery, now) : delivery.verified,
    isRetired: reason === "secret_retired",
    address,
    lists: addressLists,
  };
}

/** What a check returns, or the refusal that it throws. */
async function attempt<T>(run: () => T | Promise<T>): Promise<T | AppError> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
}

/** What the checks do not know, such as a limit of HTTP. */
function answerChecks(checks: readonly DeliveryCheck[], { status, code, reason }: Rehearsal): DeliveryCheck[] {
  if (status < 300 || checks.some(({ ok, name }) => !ok && name !== "routes")) return [];
  const answer = [status, code, reason].filter(Boolean).join(" ");
  return [check("answer", false, "", `the server would answer ${answer}: capture the request as it was sent`)];
}

const isOfTime = (found: Verified | RefusalReason) => found === "timestamp_too_old" || found === "timestamp_in_future";

function check(name: DeliveryCheck["name"], ok: boolean, yes: string, no: string): DeliveryCheck {
  return { name, ok, detail: ok ? yes : no };
}

function methodCheck({ methods = ["POST"] }: Source, method: string, handshake: string | null): DeliveryCheck {
  const isRight = handshake !== null || (methods as string[]).includes(method);
  const expected = methods.join(" or ");
  return check("method", isRight, method, `${method}, but deliveries are ${expected}: let the sender use ${expected}`);
}

const CHANGE_URL = "change the address at the sender, or path of the source";

function pathCheck(source: Source, { target }: SentTo, handshake: string | null): DeliveryCheck {
  const { path, schemes } = source;
  const [sent = ""] = target.split("?");
  const start = below(path, "/");
  if (schemes.some(isInPath) && sent.startsWith(start)) {
    const secret = sent.slice(start.length);
    if (secret === "")
      return check("path", false, "", `there is nothing behind ${start}: add the secret at the sender`);
    const remedy = "let the address at the sender end with the secret";
    return check("path", !secret.includes("/"), `${start}…`, `it has several segments behind ${path}: ${remedy}`);
  }
  const deliveries = schemes.every(isInPath) ? [] : pathsOf(source).deliveries;
  const expected = deliveries.length === 0 ? `${start}SECRET` : deliveries.join(" and ");
  const isRight = handshake !== null || deliveries.includes(sent);
  const mayHaveSecret = schemes.some(isInPath) && sent.split("/").length > path.split("/").length;
  const shown = mayHaveSecret ? sent.replace(/[^/]+\/?$/, "…") : sent;
  return check("path", isRight, shown, `${shown}, but the source is at ${expected}: ${CHANGE_URL}`);
}

const TYPE_FAULTS: Record<string, string> = {
  no_content_type: "none",
  content_type_too_long: "too long",
  several_content_types: "several",
};

const RAISE_LIMIT = "raise bodyLimit of the source";
const CAPTURE_WHOLE = "capture the bytes as they were sent";

/** What is shown of a stage, with its refusal. */
type ShowStage = (explained: Explained, refusal: AppError | null) => DeliveryCheck[];

const shown = (explained: Explained, names: readonly StageName[]) =>
  names.flatMap((name) => SHOWN[name]?.(explained, explained.refusals[name]) ?? []);

/** Null is not shown for itself. What it finds is in what is shown of the signature, the coding and the payload. */
const SHOWN: Record<StageName, ShowStage | null> = {
  content_type({ source, delivery }, refusal) {
    if (isInQuery(delivery.method)) return [];
    if (refusal === null) return [check("content_type", true, delivery.mediaType || "none", "")];
    const { reason = "", sent = "" } = refusal;
    const found = reason === "charset" ? `${sent}, which is not UTF-8` : (TYPE_FAULTS[reason] ?? mediaTypeIn(sent));
    const expected = source.contentTypes.join(" or ");
    const remedy = reason === "content_type" ? "add it to contentTypes of the source" : "change it at the sender";
    const why = reason === "content_type" ? "" : ` (${reason})`;
    return [check("content_type", false, "", `${found}, expected ${expected}${why}: ${remedy}`)];
  },
  content_encoding({ source: { encoding = [], bodyLimitBytes }, delivery, refusals }, refusal) {
    const header = delivery.headers["content-encoding"];
    const expected = encoding.join(" or ") || "none";
    if (refusal)
      return [check("content_encoding", false, "", `${header}, expected ${expected}: set encoding of the source`)];
    if (delivery.coding === null) return [];
    const undecoded = refusals.decoding ?? refusals.content;
    const limit = `it has more than ${bodyLimitBytes} bytes when decoded: ${RAISE_LIMIT}`;
    const fault =
      undecoded?.code === "payload_too_large" ? limit : `the body is not valid ${delivery.coding}: ${CAPTURE_WHOLE}`;
    return [check("content_encoding", undecoded === null, header ?? "", `${header}, but ${fault}`)];
  },
  address({ source, address, lists }, refusal) {
    if (!source.allowedAddresses) return [];
    const found = address === null ? "unsaid" : findAddress(source, address, lists);
    const fault = {
      listed: null,
      "not listed": `${address} is not in allowedAddresses: add it if it is the sender's`,
      unknown: `${address} is in no list, but a list of addresses was never read: run authserve doctor`,
      unsaid: "the request does not say it: give --address",
    }[found];
    if (fault === null) return [check("address", true, address ?? "", "")];
    return [check("address", refusal === null, `${fault}; addressMode is watch`, fault)];
  },
  body({ source: { bodyLimitBytes }, raw: { body, missingBytes } }, refusal) {
    const announced = body.length + missingBytes;
    if (missingBytes > 0 && refusal === null)
      return [
        check("body", false, "", `${body.length} bytes, but ${missingBytes} more are announced: ${CAPTURE_WHOLE}`),
      ];
    const fault = `${announced} bytes, but the limit is ${bodyLimitBytes}: ${RAISE_LIMIT}`;
    return [check("body", refusal === null, `${announced} bytes`, fault)];
  },
  // A signature may be in the body.
  signature_header: null,
  signature: signatureChecks,
  decoding: null,
  content: null,
  payload: null,
};

/** With the right time, without it, and whether the secret is retired. */
function signatureChecks({ source, delivery, found, isRetired }: Explained): DeliveryCheck[] {
  const { verified: inTime } = delivery;
  const now = delivery.now();
  const places = [...new Set(source.schemes.map(placeOf))].join(", ");
  if (found === "no_signature")
    return [check("signature_header", false, "", `nothing in ${places}: set the secret at the sender`)];
  if (found === "malformed_signature") {
    const fault = `no signature of the expected form in ${places}: take the sender's preset, or change verify`;
    return [check("signature_header", false, "", fault)];
  }
  const header = check("signature_header", true, `found in ${places}`, "");
  const time = timeOf(source, delivery, now);
  const isRightTime = typeof inTime === "object" || !inTime.startsWith("timestamp_");
  const timeFault =
    inTime === "timestamp_missing"
      ? "there is none of the expected form: take the sender's preset, or change verify"
      : `${time ?? TIME_FAULTS[String(inTime)]}: give the time of its receipt with --at, or compare the clocks`;
  const times = isRightTime && time === null ? [] : [check("timestamp", isRightTime, time ?? "", timeFault)];
  if (typeof found === "string" && found.startsWith("timestamp_")) return [header, ...times];
  const credential = typeof found === "object" ? found.secret.name : "";
  const fault = isRetired
    ? `made with ${credential}, which is retired: set the new secret at the sender`
    : `not made with ${credentialsOf(source)}${claimsOf(source)}${mismatchOf(source, delivery, now)}`;
  const isRight = typeof found === "object" && !isRetired;
  return [header, ...times, check("signature", isRight, `made with ${credential}`, fault)];
}

const TIME_FAULTS: Record<string, string> = {
  timestamp_too_old: "it is too old",
  timestamp_in_future: "it is in the future",
};

/** The mistake behind a signature of no secret if it is a usual one, and what to do. */
function mismatchOf(source: Source, request: SignedRequest, now: number): string {
  const hint = hintOf(source, request, now);
  if (hint !== null) return `; ${hint}`;
  return source.keys?.some(isUnread)
    ? ": run authserve doctor"
    : `: copy the ${source.keys ? "key" : "secret"} from the sender again, and look for a proxy that changes bodies`;
}

/** A token with a right signature is wrong, too, if it is not for this delivery. */
function claimsOf({ schemes }: Source): string {
  return schemes.some(({ type }) => type === "jwt" || type === "jws")
    ? ", or its claims are not those of this delivery"
    : "";
}

/** E.g. `env:NEW or env:OLD`. */
function credentialsOf({ secrets, keys = [] }: Source): string {
  const read = keys.map((key) => (isUnread(key) ? `${key.name}, which was never read` : key.name));
  return [...secrets.map(({ name }) => name), ...read].join(" or ") || "any secret, as there is none yet";
}

const isUnread = ({ set, keys }: NonNullable<Source["keys"]>[number]) => set !== undefined && keys.length === 0;

function placeOf(scheme: Scheme): string {
  const headers = headersOf(scheme);
  if (headers.length > 0) return headers.join(", ");
  if (scheme.type === "jws" && scheme.json === undefined) return "the body";
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

function payloadCheck(identity: Identity | AppError, content: Content): DeliveryCheck {
  if (!(identity instanceof AppError)) {
    const fault = content.fault();
    const valid = fault === null ? "valid" : `stored as it is, but the body ${fault}`;
    return check("payload", true, `${valid}; its id is ${identity.isSigned ? "signed" : "not signed"}`, "");
  }
  const faults = identity.errors?.map(({ path, message }) => `${path || "the body"} ${message}`) ?? [];
  return check("payload", false, "", `${faults.join("; ")}: let the sender change it`);
}

function identityText({ eventId, type, bytesSha256, sameWithinMs }: Identity): string {
  const same = bytesSha256 === null ? "the same id" : "the same bytes";
  const within = sameWithinMs === null ? "" : ` within ${sameWithinMs / 1000} s`;
  const duplicate = sameWithinMs === 0 ? "nothing is a duplicate" : `a duplicate is ${same}${within}`;
  return `${eventId} of type ${type}; ${duplicate}`;
}

const ADD_ROUTE = "add or change a route, else nothing processes it";

function routesCheck(verdicts: readonly RouteVerdict[]): DeliveryCheck {
  const taking = verdicts.filter(({ unmet }) => unmet === null).map(({ route }) => route);
  const others = verdicts
    .filter(({ unmet }) => unmet !== null)
    .map((verdict) => `${verdict.route} (${reasonOf(verdict)})`)
    .join(", ");
  const but = others === "" ? "" : `; not by ${others}`;
  return check("routes", taking.length > 0, `taken by ${taking.join(", ")}${but}`, `taken by none${but}: ${ADD_ROUTE}`);
}
