import { hash, randomUUID } from "node:crypto";
import { type JwtScheme, type RequestLine, requiredClaims } from "./schemes.ts";
import type { Options } from "./signed-text.ts";

const LIFETIME_SECONDS = 300;

/** What a token covers of a delivery. */
interface CoveredDelivery extends RequestLine {
  body: Uint8Array;
}

/** The claims of a token that signs a delivery, made at `now` in Unix milliseconds. */
export function claimsFor(
  scheme: JwtScheme,
  delivery: CoveredDelivery,
  now: number,
  options: Options = {},
): Record<string, unknown> {
  const { issuer, audience, bodyClaim, bodyEncoding, isBodyOptional, requestClaims = {} } = scheme;
  const { origin, target, body } = delivery;
  const url = origin + target;
  const iat = Math.floor(now / 1000);
  const required = Object.entries(requiredClaims(scheme, options));
  return {
    ...Object.fromEntries(required.map(([name, [text]]) => [name, text === "{url}" ? url : text])),
    iat,
    exp: iat + LIFETIME_SECONDS,
    jti: randomUUID(),
    ...(issuer !== undefined && { iss: issuer }),
    ...(audience !== undefined && { aud: audience === "url" ? url : audience.text }),
    ...(bodyClaim !== undefined &&
      !(isBodyOptional && body.length === 0) && { [bodyClaim]: hash("sha256", body, bodyEncoding ?? "hex") }),
    ...Object.fromEntries(Object.entries(requestClaims).map(([name, textsOf]) => [name, textsOf(delivery)[0]])),
  };
}
