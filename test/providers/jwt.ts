import { createHash, createSecretKey } from "node:crypto";
import { type Delivery, EVENT, hmac256, type Provider, seconds } from "./delivery.ts";
import { P256_PRIVATE, P256_PUBLIC_JWK, RSA_PUBLIC_PEM, signRsa } from "./keys.ts";

const digestOf = (text: string) => createHash("sha256").update(text).digest("hex");

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");

/** A token with the algorithm HS256. */
function tokenOf(secret: string, claims: object): string {
  const content = `${encode({ alg: "HS256", typ: "JWT" })}.${encode(claims)}`;
  return `${content}.${hmac256(secret, "base64url", content)}`;
}

const alterQuery = (delivery: Delivery): Delivery => ({
  ...delivery,
  url: delivery.url.replace("tenant=7", "tenant=8"),
});

const bearer = ({ headers }: Delivery) => headers.authorization?.replace("Bearer ", "");

const PLAID_KEY_ID = "bfbd5111-8e33-4643-8ced-b2e642a72f3c";

const GOOGLE_KEY_ID = "7d680d8c70d44e947133cbd499ebc1a61c3d5abc";
const SERVICE_ACCOUNT = "eventarc@example.iam.gserviceaccount.com";
const GOOGLE_ISSUERS = ["https://accounts.google.com", "accounts.google.com"];

/** Providers that send a signed token. */
export const jwt: Provider[] = [
  {
    preset: "messagebird",
    package: "messagebird",
    module: "messagebird/lib/webhook-signature-jwt.js",
    how: "checked",
    secret: "messagebird signing key, 32 bytes",
    send: (_lib, secret, at, url) => {
      const now = Number(seconds(at));
      const claims = { iss: "MessageBird", nbf: now, iat: now, exp: now + 60, jti: "e92eb9f0-85b6-4f8e" };
      const hashes = { url_hash: digestOf(url), payload_hash: digestOf(EVENT) };
      return { headers: { "messagebird-signature-jwt": tokenOf(secret, { ...claims, ...hashes }) } };
    },
    accepts: (lib, { url, body, headers }, secret) =>
      lib.verify(url, Buffer.from(body), headers["messagebird-signature-jwt"], createSecretKey(Buffer.from(secret))),
  },
  {
    preset: "vonage",
    package: "@vonage/jwt",
    how: "checked",
    secret: "vonage signature secret, at least 32 bytes",
    send: (_lib, secret, at) => {
      const claims = { iat: Number(seconds(at)), jti: "c5ba8f24-1a14-4c10", iss: "Vonage", api_key: "a1b2c3d4" };
      const token = tokenOf(secret, { ...claims, application_id: "aaaaaaaa-bbbb", payload_hash: digestOf(EVENT) });
      return { headers: { authorization: `Bearer ${token}` } };
    },
    // The package checks the token. That its claim is the digest of the body is left to the receiver.
    accepts: (lib, delivery, secret) => {
      const token = bearer(delivery) ?? "";
      const claims = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
      return lib.verifySignature(token, secret) && claims.payload_hash === digestOf(delivery.body);
    },
  },
  {
    preset: "atlassian_connect",
    package: "atlassian-jwt",
    how: "signed",
    secret: "atlassian connect shared secret",
    send: (lib, secret, at, url) => {
      const now = Number(seconds(at));
      const qsh = lib.createQueryStringHash(lib.fromMethodAndUrl("POST", url), false, new URL(url).origin);
      const token = lib.encodeSymmetric({ iss: "client-key", iat: now, exp: now + 180, qsh }, secret);
      return { headers: { authorization: `JWT ${token}` } };
    },
    accepts: (lib, { url, headers }, secret) => {
      const { qsh } = lib.decodeSymmetric(headers.authorization?.replace("JWT ", ""), secret, "HS256");
      return qsh === lib.createQueryStringHash(lib.fromMethodAndUrl("POST", url), false, new URL(url).origin);
    },
    // The body is not covered.
    alter: alterQuery,
  },
  {
    preset: "monday",
    package: "jsonwebtoken",
    prescribedBy: "https://developer.monday.com/apps/docs/advanced-concepts",
    how: "signed",
    secret: "monday signing secret",
    send: (lib, secret, at, url) => {
      const iat = Number(seconds(at));
      const claims = { accountId: 1825529, userId: 4012689, aud: url, exp: iat + 300, iat };
      return { headers: { authorization: lib.default.sign(claims, secret) } };
    },
    accepts: (lib, { url, headers }, secret) => lib.default.verify(headers.authorization, secret, { audience: url }),
    // The body is not covered.
    alter: alterQuery,
  },
  {
    preset: "google_eventarc",
    package: "google-auth-library",
    how: "checked",
    keys: [RSA_PUBLIC_PEM],
    options: { email: SERVICE_ACCOUNT, audience: "{url}" },
    send: (_lib, _key, at, url) => {
      const iat = Number(seconds(at));
      const account = { sub: "113774264463038321964", email: SERVICE_ACCOUNT, email_verified: true };
      const claims = { aud: url, azp: account.sub, ...account, exp: iat + 3600, iat, iss: GOOGLE_ISSUERS[0] };
      const signed = `${encode({ alg: "RS256", kid: GOOGLE_KEY_ID, typ: "JWT" })}.${encode(claims)}`;
      const signature = Buffer.from(signRsa(signed), "base64").toString("base64url");
      return { headers: { authorization: `Bearer ${signed}.${signature}` } };
    },
    accepts: async (lib, delivery, key) => {
      const certificates = { [GOOGLE_KEY_ID]: key };
      const ticket = await new lib.OAuth2Client().verifySignedJwtWithCertsAsync(
        bearer(delivery),
        certificates,
        delivery.url,
        GOOGLE_ISSUERS,
      );
      const { email, email_verified } = ticket.getPayload();
      return email === SERVICE_ACCOUNT && email_verified;
    },
    // The body is not covered.
    alter: alterQuery,
  },
  {
    preset: "livekit",
    package: "livekit-server-sdk",
    how: "signed",
    secret: "livekit api secret, at least 32 bytes",
    send: async (lib, secret) => {
      const token = new lib.AccessToken("APIwLeah7g4fuLYDYAJeaKsSE", secret, { ttl: 300 });
      token.sha256 = createHash("sha256").update(EVENT).digest("base64");
      const headers = { authorization: await token.toJwt(), "content-type": "application/webhook+json" };
      return { headers, body: EVENT };
    },
    accepts: (lib, { body, headers }, secret) =>
      new lib.WebhookReceiver("APIwLeah7g4fuLYDYAJeaKsSE", secret).receive(body, headers.authorization),
  },
  {
    preset: "plaid",
    package: "jose",
    prescribedBy: "https://plaid.com/docs/api/webhooks/webhook-verification/",
    how: "signed",
    keys: [JSON.stringify({ ...P256_PUBLIC_JWK, alg: "ES256", kid: PLAID_KEY_ID, use: "sig" })],
    send: async (lib, _key, at) => {
      const claims = { iat: Number(seconds(at)), request_body_sha256: digestOf(EVENT) };
      const token = new lib.SignJWT(claims).setProtectedHeader({ alg: "ES256", kid: PLAID_KEY_ID, typ: "JWT" });
      return { headers: { "plaid-verification": await token.sign(P256_PRIVATE) } };
    },
    accepts: async (lib, { body, headers }, key) => {
      const publicKey = await lib.importJWK(JSON.parse(key));
      const { payload } = await lib.jwtVerify(headers["plaid-verification"], publicKey, { maxTokenAge: "5 min" });
      return payload.request_body_sha256 === digestOf(body);
    },
  },
];
