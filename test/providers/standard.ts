import { type Delivery, EVENT, hmac256, type Provider, seconds } from "./delivery.ts";

export const ID = "msg_2mVnTq8Zr4";
const KEY = Buffer.from("a key of thirty-two bytes, fixed");
export const SECRET = `whsec_${KEY.toString("base64")}`;

export type Prefix = "webhook" | "svix";

/** The three headers of Standard Webhooks, or of Svix, which it stems from. */
function headersOf(prefix: Prefix, at: number, key: string | Uint8Array = KEY, body = EVENT): Record<string, string> {
  const timestamp = seconds(at);
  return {
    [`${prefix}-id`]: ID,
    [`${prefix}-timestamp`]: timestamp,
    [`${prefix}-signature`]: `v1,${hmac256(key, "base64", `${ID}.${timestamp}.${body}`)}`,
  };
}

/** The package knows its own events only. */
const LIVEBLOCKS_EVENT = JSON.stringify({ type: "storageUpdated", data: { roomId: "4200", projectId: "Zoë" } });

const asRequest = ({ url, method, headers, body }: Delivery) => new Request(url, { method, headers, body });

/** Providers that send Standard Webhooks, and the package of that specification. */
export const standard: Provider[] = [
  {
    preset: "standard_webhooks",
    package: "standardwebhooks",
    how: "signed",
    secret: SECRET,
    send: (lib, secret, at) => ({
      headers: {
        "webhook-id": ID,
        "webhook-timestamp": seconds(at),
        "webhook-signature": new lib.Webhook(secret).sign(ID, new Date(at), EVENT),
      },
    }),
    accepts: (lib, { body, headers }, secret) => new lib.Webhook(secret).verify(body, headers),
  },
  {
    preset: "clerk",
    package: "@clerk/backend",
    module: "@clerk/backend/webhooks",
    how: "checked",
    secret: SECRET,
    send: (_lib, _secret, at) => ({ headers: headersOf("svix", at) }),
    accepts: (lib, delivery, secret) => lib.verifyWebhook(asRequest(delivery), { signingSecret: secret }),
  },
  {
    preset: "resend",
    package: "resend",
    how: "checked",
    secret: SECRET,
    send: (_lib, _secret, at) => ({ headers: headersOf("svix", at) }),
    accepts: (lib, { body, headers }, secret) =>
      new lib.Resend("re_unused").webhooks.verify({
        payload: body,
        headers: {
          id: headers["svix-id"],
          timestamp: headers["svix-timestamp"],
          signature: headers["svix-signature"],
        },
        webhookSecret: secret,
      }),
  },
  {
    preset: "openai",
    package: "openai",
    how: "checked",
    secret: SECRET,
    send: (_lib, _secret, at) => ({ headers: headersOf("webhook", at) }),
    accepts: (lib, { body, headers }, secret) =>
      new lib.default({ apiKey: "unused", webhookSecret: secret }).webhooks.unwrap(body, headers),
  },
  {
    preset: "anthropic",
    package: "@anthropic-ai/sdk",
    how: "checked",
    secret: SECRET,
    send: (_lib, _secret, at) => ({ headers: headersOf("webhook", at) }),
    accepts: (lib, { body, headers }, key) =>
      new lib.default({ apiKey: "unused" }).beta.webhooks.unwrap(body, { headers, key }),
  },
  {
    preset: "replicate",
    package: "replicate",
    how: "checked",
    secret: SECRET,
    send: (_lib, _secret, at) => ({ headers: headersOf("webhook", at) }),
    accepts: (lib, { body, headers }, secret) => lib.validateWebhook({ headers, body }, secret),
  },
  {
    preset: "polar",
    package: "@polar-sh/sdk",
    module: "@polar-sh/sdk/webhooks",
    how: "checked",
    // The bytes of this text are the key: nothing of it is base64.
    secret: "polar_whs_3fQxT8mLZ0aYkR",
    send: (_lib, secret, at) => ({ headers: headersOf("webhook", at, secret) }),
    accepts: (lib, { body, headers }, secret) => {
      try {
        return lib.validateEvent(body, headers, secret);
      } catch (error) {
        // The signature counted first: what is left is the shape of an event that Polar does not have.
        return !(error instanceof lib.WebhookVerificationError);
      }
    },
  },
  {
    preset: "increase",
    package: "increase",
    how: "checked",
    // All of this text is the key: the receiver chooses it.
    secret: "increase shared secret, 32 bytes",
    send: (_lib, secret, at) => ({ headers: headersOf("webhook", at, secret) }),
    accepts: (lib, { body, headers }, webhookSecret) =>
      new lib.default({ apiKey: "unused", webhookSecret }).events.unwrap(body, { headers }),
  },
  {
    preset: "standard_webhooks",
    package: "@liveblocks/node",
    how: "checked",
    secret: SECRET,
    send: (_lib, _secret, at) => ({ headers: headersOf("webhook", at, KEY, LIVEBLOCKS_EVENT), body: LIVEBLOCKS_EVENT }),
    accepts: (lib, { body, headers }, secret) =>
      new lib.WebhookHandler(secret).verifyRequest({ headers, rawBody: body }),
  },
  {
    preset: "standard_webhooks",
    package: "lithic",
    how: "checked",
    secret: SECRET,
    send: (_lib, _secret, at) => ({ headers: headersOf("webhook", at) }),
    accepts: (lib, { body, headers }, webhookSecret) =>
      new lib.default({ apiKey: "unused", webhookSecret }).webhooks.unwrap(body, headers),
  },
  {
    preset: "standard_webhooks",
    package: "dodopayments",
    how: "checked",
    secret: SECRET,
    send: (_lib, _secret, at) => ({ headers: headersOf("webhook", at) }),
    accepts: (lib, { body, headers }, webhookKey) =>
      new lib.default({ bearerToken: "unused", webhookKey }).webhooks.unwrap(body, { headers }),
  },
  {
    preset: "svix",
    package: "svix",
    how: "signed",
    secret: SECRET,
    send: (lib, secret, at) => ({
      headers: {
        "svix-id": ID,
        "svix-timestamp": seconds(at),
        "svix-signature": new lib.Webhook(secret).sign(ID, new Date(at), EVENT),
      },
    }),
    accepts: (lib, { body, headers }, secret) => {
      new lib.Webhook(secret).verify(body, headers);
      return true;
    },
  },
];
