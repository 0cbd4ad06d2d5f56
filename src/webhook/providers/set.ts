import { randomUUID } from "node:crypto";
import { seconds } from "../provider/sample.ts";
import { provider, says } from "../provider.ts";
import type { JwsScheme } from "../signature/schemes.ts";

const RFC = "https://www.rfc-editor.org/rfc/rfc8935";

/** Whether a text is JSON is decided by whoever has signed it. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/**
 * The claims with the type of the event. `events` has the event under its type (RFC 8417, 2.2). That of Apple is a text
 * of JSON, with the type in it. Tokens without `events` are of another use, such as a login.
 */
function withType(claims: Readonly<Record<string, unknown>>): Record<string, unknown> | null {
  const events = typeof claims.events === "string" ? parsed(claims.events) : claims.events;
  if (typeof events !== "object" || events === null || Array.isArray(events)) return null;
  const [first] = Object.keys(events);
  const type = "type" in events && typeof events.type === "string" ? events.type : first;
  return type === undefined ? null : { ...claims, eventType: type };
}

const TOKEN: JwsScheme = {
  type: "jws",
  isKeyed: true,
  algorithms: ["RS256", "PS256", "ES256", "EdDSA"],
  claims: { iss: ["{option:issuer}"], aud: ["{options:audiences}"] },
  readClaims: withType,
};

export default provider({
  title: "Security event tokens",
  docs: RFC,
  // The second is that of Apple,
  // https://developer.apple.com/documentation/signinwithapple/processing-changes-for-sign-in-with-apple-accounts.
  schemes: [TOKEN, { ...TOKEN, json: "payload" }],
  options: {
    issuer: { is: "what `iss` of the tokens is, such as https://appleid.apple.com or https://accounts.google.com/" },
    audiences: { is: "what `aud` may be, with blanks between them: the ids of your clients or apps" },
  },
  // Nothing is beside the token.
  covers: "part",
  id: ["claim:jti"],
  type: ["claim:eventType"],
  contentTypes: ["application/secevent+jwt", "application/json"],
  acknowledgement: { status: 202, type: "text/plain", text: "" },
  facts: says(RFC, { batches: false, answer: "202 with an empty body" }),
  sample: {
    type: "https://schemas.openid.net/secevent/risc/event-type/account-disabled",
    newId: randomUUID,
    content: {
      json: ({ id, type, now }) => ({
        // Signing makes a token of it.
        payload: {
          jti: id,
          iat: seconds(now),
          events: {
            [type]: {
              subject: { subject_type: "iss-sub", iss: "https://idp.example.com/", sub: "7375626A656374" },
              reason: "hijacking",
            },
          },
        },
      }),
    },
  },
});
