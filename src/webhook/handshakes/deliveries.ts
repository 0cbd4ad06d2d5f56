import { createHmac } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { isObject } from "../../lib/json.ts";
import type { Content } from "../intake/content.ts";
import type { Handshake, Source } from "../source.ts";
import { type Answer, json, PRINTABLE, requireChallenge, text } from "./answer.ts";
import type { HandshakeKind } from "./kind.ts";
import { isSslCheck } from "./validations.ts";

/**
 * Answers a delivery if it is a handshake. `secret` is the one that signed it. Throws `invalid_payload` for a bad
 * challenge.
 */
type AnswerDelivery = (
  content: Content,
  secret: string,
  headers: IncomingHttpHeaders,
  handshake: Handshake,
) => Answer | null;

/** The answers to deliveries, by kind. */
export const DELIVERY_ANSWERS: Partial<Record<HandshakeKind, AnswerDelivery>> = {
  /**
   * A ping of interactions has the type 1, as an event has; only the event has `event`. A ping of events has the type
   * 0.
   */
  discord(content) {
    const type = content.member("type");
    if (type === 0) return text("", 204);
    return type === 1 && content.member("event") === undefined ? json({ type }) : null;
  },
  "echo-json"(content, _secret, _headers, { name = "", as = name }) {
    const parsed = content.json();
    const challenge = parsed.ok && isObject(parsed.value) ? parsed.value[name] : undefined;
    const isChallenge = typeof challenge === "string" ? PRINTABLE.test(challenge) : Number.isSafeInteger(challenge);
    return isChallenge ? json({ [as]: challenge }) : null;
  },
  event_grid(content) {
    if (content.member("0.eventType") !== "Microsoft.EventGrid.SubscriptionValidationEvent") return null;
    return json({ validationResponse: challengeAt(content, "0.data.validationCode") });
  },
  front(content, _secret, headers) {
    const header = "x-front-challenge";
    if (content.member("type") !== "sync" || headers[header] === undefined) return null;
    return text(requireChallenge(headers[header], header, { code: "invalid_payload" }));
  },
  mandrill: (content) => (String(content.form()) === "mandrill_events=%5B%5D" ? text("") : null),
  monday(content) {
    const parsed = content.json();
    if (!parsed.ok || !isObject(parsed.value) || Object.keys(parsed.value).join() !== "challenge") return null;
    return json({ challenge: challengeAt(content, "challenge") });
  },
  slack(content) {
    if (isSslCheck(content)) return text("");
    if (content.member("type") !== "url_verification") return null;
    return text(challengeAt(content, "challenge"));
  },
  /** Twitch's header for the type of the message is not signed, so the body decides. */
  twitch(content) {
    if (content.member("subscription.status") !== "webhook_callback_verification_pending") return null;
    return text(challengeAt(content, "challenge"));
  },
  zoom(content, secret) {
    if (content.member("event") !== "endpoint.url_validation") return null;
    const plainToken = challengeAt(content, "payload.plainToken");
    return json({ plainToken, encryptedToken: createHmac("sha256", secret).update(plainToken).digest("hex") });
  },
};

/** Whether a genuine delivery is a handshake of its source, and no event. */
export function isHandshake(
  { handshake }: Pick<Source, "handshake">,
  content: Content,
  headers: IncomingHttpHeaders,
): boolean {
  if (!handshake) return false;
  const answer = DELIVERY_ANSWERS[handshake.kind];
  return answer !== undefined && answer(content, "", headers, handshake) !== null;
}

function challengeAt(content: Content, path: string): string {
  return requireChallenge(content.member(path), path, { code: "invalid_payload" });
}
