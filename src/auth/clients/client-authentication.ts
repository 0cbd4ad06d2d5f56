import { hash, timingSafeEqual } from "node:crypto";
import { formDecoded } from "../../lib/form-encoded.ts";
import type { Client } from "./client.ts";
import { parameterFault, type SentParameters } from "./parameters.ts";
import { type TokenError, tokenError } from "./token-errors.ts";

/** The client that sent a request, or the answer that refuses it. */
type AuthenticatedClient = { ok: true; client: Client } | { ok: false; error: TokenError };

/** What a request says of its client. */
interface Credentials {
  id: string;
  /** The readings of the secret; empty without one. */
  secrets: readonly string[];
}

/**
 * Authenticates the client of a token, revocation or introspection request. It needs the values of all `Authorization`
 * headers, and the parameters of the body, read with at least the names `client_id` and `client_secret`. It takes
 * `client_secret_basic`, `client_secret_post`, and no secret from public clients (RFC 6749, 2.3).
 */
export function authenticateClient(
  authorization: readonly string[],
  sent: SentParameters,
  clients: readonly Client[],
): AuthenticatedClient {
  const refuse = (...error: Parameters<typeof tokenError>) => ({ ok: false as const, error: tokenError(...error) });
  const fault = parameterFault(sent);
  if (fault !== null) return refuse("invalid_request", `${fault.found}: ${fault.expected}`);
  const [header, ...others] = authorization;
  if (others.length > 0) return refuse("invalid_request", "Authorization is there more than once: expected one header");
  const triedHeader = header !== undefined;
  const idOfBody = sent.values.get("client_id");
  const secretOfBody = sent.values.get("client_secret");
  if (triedHeader && secretOfBody !== undefined)
    return refuse("invalid_request", "the secret is in the header and in the body: expected one of them");

  const given = triedHeader ? credentialsOfHeader(header) : credentialsOfBody(idOfBody, secretOfBody);
  if (given === null) {
    const description = triedHeader
      ? "Authorization is malformed: expected Basic with the client id and the secret, each urlencoded"
      : "client_id is missing: expected it in the body, or in an Authorization header";
    return refuse("invalid_client", description, { triedHeader });
  }
  if (triedHeader && idOfBody !== undefined && idOfBody !== given.id)
    return refuse("invalid_request", "client_id in the body is not the one in the header: expected the same client");

  const client = clients.find(({ name }) => name === given.id);
  const proves = isProof(given.secrets, client?.secret ?? null);
  if (client !== undefined && proves) return { ok: true, client };
  // One text for an unknown client and a wrong secret: it tells nobody which clients there are.
  const description =
    "the client is unknown or did not prove itself: expected its secret, or none from a public client";
  return refuse("invalid_client", description, { triedHeader });
}

/** Whether one of these readings is the secret; without a secret, whether none was given. */
function isProof(given: readonly string[], secret: string | null): boolean {
  const expected = digestOf(secret ?? "");
  const matches = given.map((one) => timingSafeEqual(digestOf(one), expected));
  return secret === null ? given.length === 0 : matches.includes(true);
}

/** Digests have one length, which the comparison in constant time needs. */
const digestOf = (text: string) => hash("sha256", text, "buffer");

function credentialsOfBody(id: string | undefined, secret: string | undefined): Credentials | null {
  return id === undefined ? null : { id, secrets: secret === undefined ? [] : [secret] };
}

const MAX_HEADER_LENGTH = 4096;

/** Reads Basic credentials. A secret that is empty counts as none (RFC 6749, 2.3.1). */
function credentialsOfHeader(header: string): Credentials | null {
  if (header.length > MAX_HEADER_LENGTH) return null;
  const encoded = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(header)?.[1];
  const text = encoded === undefined ? "" : Buffer.from(encoded, "base64").toString("utf8");
  const colon = text.indexOf(":");
  const id = formDecoded(text.slice(0, Math.max(colon, 0)));
  if (id === null || id === "") return null;
  const written = text.slice(colon + 1);
  // Many apps send the secret as it is. That matters for `+` and `%`.
  const readings = new Set([formDecoded(written), written]);
  return { id, secrets: [...readings].filter((secret) => secret !== null && secret !== "") as string[] };
}
