import { hash, timingSafeEqual } from "node:crypto";
import { isObject } from "../../lib/json.ts";
import {
  type Handshake,
  type HandshakeSettings,
  inHeader,
  inQuery,
  isThere,
  json,
  PRINTABLE,
  text,
  withChallenge,
  withHeaders,
} from "./handshake.ts";

type Way = Omit<Handshake, "kind">;

/** GET with a challenge in the query, which the answer has. `as`: a member of JSON. */
export function echoQuery(name: string, as?: string): Way {
  return { ...inQuery(name, echoAs(as)), ...jsonAs(as) };
}

/** Consents to a subscription of WebSub, not to its end, which anybody could ask for. */
export function hub(hasToken: boolean, as?: string): Way {
  return {
    query: { "hub.mode": "text", "hub.challenge": "text", "hub.verify_token": "text?" },
    ...(hasToken && { refusal: "signature_mismatch" }),
    ...jsonAs(as),
    get({ query, token }) {
      if (query.get("hub.mode") !== "subscribe") return { path: "hub.mode", message: "must be subscribe" };
      if (hasToken && !isSame(query.get("hub.verify_token"), token))
        return { code: "signature_mismatch", reason: "signature_mismatch" };
      return withChallenge(query.get("hub.challenge"), "hub.challenge", echoAs(as));
    },
  };
}

// A name of DNS, which some senders precede with a scheme.
const ORIGIN = /^[A-Za-z0-9._:/-]{1,255}$/;

/** Consents to deliveries at any rate (CloudEvents webhooks 1.0, 4.2). */
export const consent = inHeader(
  "webhook-request-origin",
  (origin) => withHeaders({ Allow: "OPTIONS, POST", "WebHook-Allowed-Origin": origin, "WebHook-Allowed-Rate": "*" }),
  ORIGIN,
);

const jsonAs = (as: string | undefined): Way => (as === undefined ? {} : { json: { [as]: "text" } });

/** Answers with a challenge, as text or as a member of JSON. */
const echoAs = (as: string | undefined) => (challenge: string) =>
  as === undefined ? text(challenge) : json({ [as]: challenge });

/** A handshake that a source may describe: what the sender asks by, the keys that it has, and how it is answered. */
interface Described {
  is: string;
  keys: readonly ("name" | "as" | "token")[];
  of(settings: HandshakeSettings): Way;
}

/** The handshakes that a source may describe, by `type`. */
export const DESCRIBED = {
  head: { is: "a `HEAD`", keys: [], of: () => ({ head: isThere }) },
  "echo-query": {
    is: "a `GET` with a challenge in the query",
    keys: ["name", "as"],
    of: ({ name = "", as }) => echoQuery(name, as),
  },
  "echo-header": {
    is: "a `POST` with a challenge in a header",
    keys: ["name", "as"],
    of: ({ name = "", as = name }) => ({
      validation: {
        asks: ({ headers }) => headers[name] !== undefined,
        answer: inHeader(name, (challenge) => withHeaders({ [as]: challenge })),
      },
    }),
  },
  "echo-json": {
    is: "a `POST` with a challenge in a member of its JSON",
    keys: ["name", "as"],
    of: ({ name = "", as = name }) => ({
      json: { [as]: "text or number" },
      isUnsigned: true,
      delivery(content) {
        const parsed = content.json();
        const challenge = parsed.ok && isObject(parsed.value) ? parsed.value[name] : undefined;
        const isChallenge = typeof challenge === "string" ? PRINTABLE.test(challenge) : Number.isSafeInteger(challenge);
        return isChallenge ? json({ [as]: challenge }) : null;
      },
    }),
  },
  hub: { is: "as WebSub does", keys: ["token", "as"], of: ({ token, as }) => hub(token !== undefined, as) },
  // Fitbit wants 404 for a wrong code.
  "match-query": {
    is: "a `GET` with the `token` in the query, answered with 204 or 404",
    keys: ["name", "token"],
    of: ({ name = "" }) => ({
      query: { [name]: "text" },
      statuses: [204],
      refusal: "not_found",
      get: ({ query, token }) => (isSame(query.get(name), token) ? text("", 204) : { code: "not_found" }),
    }),
  },
} satisfies Record<string, Described>;

/** Compares in constant time. */
function isSame(given: string | null, expected: string | undefined): boolean {
  if (given === null || expected === undefined) return false;
  return timingSafeEqual(hash("sha256", given, "buffer"), hash("sha256", expected, "buffer"));
}
