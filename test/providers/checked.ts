import { type Delivery, EVENT, hmac256, type Provider, seconds, URL_OF_RECEIVER } from "./delivery.ts";

const dataIdOf = (url: string) => new URL(url).searchParams.get("data.id");

/** Without the newer signature, which a check prefers to the older. */
const olderOfHook0 = (signature: string) =>
  signature
    .split(",")
    .filter((item) => !/^(?:h|v1)=/.test(item))
    .join(",");

async function shopifyAccepts(
  lib: { shopifyApi(config: object): ShopifyWebhooks },
  delivery: Delivery,
  secret: string,
) {
  // Teaches the package what a request of Node is.
  await import(SHOPIFY_FOR_NODE);
  const shopify = lib.shopifyApi({
    apiKey: "unused",
    apiSecretKey: secret,
    scopes: [],
    hostName: "hooks.example.com",
    apiVersion: "2026-07",
    isEmbeddedApp: false,
    logger: { log: () => {} },
  });
  const { headers, method, url, body } = delivery;
  const { valid } = await shopify.webhooks.validate({
    rawBody: body,
    rawRequest: { headers, method, url },
    rawResponse: {},
  });
  return valid;
}

const SHOPIFY_FOR_NODE: string = "@shopify/shopify-api/adapters/node";

/** Providers whose package only checks: the recipe signs, and counts once the package accepts. */
export const checked: Provider[] = [
  {
    preset: "paddle",
    package: "@paddle/paddle-node-sdk",
    how: "checked",
    secret: "pdl_ntfset_01hv8x_9KQm",
    send: (_lib, secret, at) => ({
      headers: {
        "paddle-signature": `ts=${seconds(at)};h1=${hmac256(secret, "hex", `${seconds(at)}:${EVENT}`)}`,
      },
    }),
    accepts: (lib, { body, headers }, secret) =>
      new lib.Paddle("unused").webhooks.isSignatureValid(body, secret, headers["paddle-signature"]),
  },
  {
    preset: "slack",
    package: "@slack/bolt",
    module: "@slack/bolt/dist/receivers/verify-request.js",
    how: "checked",
    secret: "8f742231b10e8888abcd99yyyzzz85a5",
    send: (_lib, secret, at) => ({
      headers: {
        "x-slack-request-timestamp": seconds(at),
        "x-slack-signature": `v0=${hmac256(secret, "hex", `v0:${seconds(at)}:${EVENT}`)}`,
      },
    }),
    accepts: (lib, { body, headers }, signingSecret) => {
      const timestamp = Number(headers["x-slack-request-timestamp"]);
      lib.verifySlackRequest({ signingSecret, body, headers: { ...headers, "x-slack-request-timestamp": timestamp } });
      return true;
    },
  },
  {
    preset: "line",
    package: "@line/bot-sdk",
    how: "checked",
    secret: "8c570fa6dd201bb328f1c1eac23a96d8",
    send: (_lib, secret) => ({ headers: { "x-line-signature": hmac256(secret, "base64", EVENT) } }),
    accepts: (lib, { body, headers }, secret) => lib.validateSignature(body, secret, headers["x-line-signature"]),
  },
  {
    preset: "razorpay",
    package: "razorpay",
    how: "checked",
    secret: "razorpay webhook secret",
    send: (_lib, secret) => ({ headers: { "x-razorpay-signature": hmac256(secret, "hex", EVENT) } }),
    accepts: (lib, { body, headers }, secret) =>
      lib.default.validateWebhookSignature(body, headers["x-razorpay-signature"], secret),
  },
  {
    preset: "square",
    package: "square",
    how: "checked",
    secret: "asdf1234_signature_key",
    send: (_lib, secret) => ({
      headers: { "x-square-hmacsha256-signature": hmac256(secret, "base64", URL_OF_RECEIVER + EVENT) },
    }),
    accepts: (lib, { url, body, headers }, secret) =>
      lib.WebhooksHelper.verifySignature({
        requestBody: body,
        signatureHeader: headers["x-square-hmacsha256-signature"],
        signatureKey: secret,
        notificationUrl: url,
      }),
  },
  {
    preset: "linear",
    package: "@linear/sdk",
    module: "@linear/sdk/webhooks",
    how: "checked",
    secret: "lin_wh_Qx7cT2",
    send: (_lib, secret, at) => {
      const body = JSON.stringify({ action: "create", type: "Issue", data: { estimate: 4200 }, webhookTimestamp: at });
      return { headers: { "linear-signature": hmac256(secret, "hex", body) }, body };
    },
    accepts: (lib, { body, headers }, secret) => {
      const { webhookTimestamp } = JSON.parse(body);
      const client = new lib.LinearWebhookClient(secret);
      return client.verify(Buffer.from(body), headers["linear-signature"], webhookTimestamp);
    },
  },
  {
    preset: "mux",
    package: "@mux/mux-node",
    how: "checked",
    secret: "mux webhook secret",
    send: (_lib, secret, at) => ({
      headers: { "mux-signature": `t=${seconds(at)},v1=${hmac256(secret, "hex", `${seconds(at)}.${EVENT}`)}` },
    }),
    accepts: (lib, { body, headers }, webhookSecret) =>
      new lib.default({ tokenId: "unused", tokenSecret: "unused", webhookSecret }).webhooks.unwrap(body, headers),
  },
  {
    preset: "gocardless",
    package: "gocardless-nodejs",
    module: "gocardless-nodejs/webhooks",
    how: "checked",
    secret: "ED7D658C-D8EB-4941-948B-3973214F2D49",
    send: (_lib, secret) => {
      const body = JSON.stringify({ events: [{ id: "EV00BD05S5VM2T", resource_type: "payments", amount: 4200 }] });
      return { headers: { "webhook-signature": hmac256(secret, "hex", body) }, body };
    },
    accepts: (lib, { body, headers }, secret) => lib.parse(body, secret, headers["webhook-signature"]),
  },
  {
    preset: "cronofy",
    package: "cronofy",
    how: "checked",
    secret: "CRN_client_secret",
    send: (_lib, secret) => ({ headers: { "cronofy-hmac-sha256": hmac256(secret, "base64", EVENT) } }),
    accepts: (lib, { body, headers }, secret) =>
      new lib.default({}).hmacValid({ hmac: headers["cronofy-hmac-sha256"], body, client_secret: secret }),
  },
  {
    preset: "pusher",
    package: "pusher",
    how: "checked",
    secret: "7ad3773142a6692b25b8",
    send: (_lib, secret) => ({
      headers: { "x-pusher-key": "278d425bdf160c739803", "x-pusher-signature": hmac256(secret, "hex", EVENT) },
    }),
    accepts: (lib, { body, headers }, secret) => {
      const pusher = new lib.default({ appId: "1", key: headers["x-pusher-key"], secret, cluster: "eu" });
      return pusher.webhook({ headers, rawBody: body }).isValid();
    },
  },
  {
    preset: "mercado_pago",
    package: "mercadopago",
    how: "checked",
    secret: "mercado pago secret",
    send: (_lib, secret, at) => {
      const requestId = "bb56a2f1-6aae-46ac-982e-9dcd3581d08e";
      const content = `id:123456;request-id:${requestId};ts:${seconds(at)};`;
      return {
        url: "https://hooks.example.com/webhooks/provider?data.id=123456&type=payment",
        headers: {
          "x-request-id": requestId,
          "x-signature": `ts=${seconds(at)},v1=${hmac256(secret, "hex", content)}`,
        },
      };
    },
    accepts: (lib, { url, headers }, secret) => {
      lib.WebhookSignatureValidator.validate({
        xSignature: headers["x-signature"],
        xRequestId: headers["x-request-id"],
        dataId: dataIdOf(url),
        secret,
        toleranceSeconds: 300,
      });
      return true;
    },
    // The body is not covered.
    alter: (delivery) => ({ ...delivery, url: delivery.url.replace("123456", "123457") }),
  },
  {
    preset: "box",
    package: "box-node-sdk",
    module: "box-node-sdk/managers/webhooks",
    how: "checked",
    secret: "box primary key",
    send: (_lib, secret, at) => {
      const timestamp = `${new Date(at).toISOString().slice(0, 19)}-00:00`;
      return {
        headers: {
          "box-delivery-id": "673a081b-bb4b-4d45-b4f1-4131a29c1d07",
          "box-delivery-timestamp": timestamp,
          "box-signature-version": "1",
          "box-signature-algorithm": "HmacSHA256",
          "box-signature-primary": hmac256(secret, "base64", EVENT + timestamp),
        },
      };
    },
    accepts: (lib, { body, headers }, secret) => lib.WebhooksManager.validateMessage(body, headers, secret),
  },
  {
    preset: "shopify",
    package: "@shopify/shopify-api",
    how: "checked",
    secret: "shpss_4b1d0f",
    send: (_lib, secret) => ({
      headers: {
        "x-shopify-topic": "orders/paid",
        "x-shopify-shop-domain": "example.myshopify.com",
        "x-shopify-api-version": "2026-07",
        "x-shopify-webhook-id": "b54557e4-bdd9-4b37-8a5f-bf7d70bcd043",
        "x-shopify-hmac-sha256": hmac256(secret, "base64", EVENT),
      },
    }),
    accepts: shopifyAccepts,
  },
  {
    preset: "x",
    package: "twitter-autohook",
    how: "checked",
    secret: "x consumer secret",
    send: (_lib, secret) => ({
      headers: { "x-twitter-webhooks-signature": `sha256=${hmac256(secret, "base64", EVENT)}` },
    }),
    accepts: (lib, { body, headers }, secret) =>
      lib.default.validateSignature(headers, { consumer_secret: secret }, body),
  },
  {
    preset: "hook0",
    package: "hook0-client",
    how: "checked",
    secret: "5f0a3a0e-7d6f-4d0f-9a55-2a2c1e3b8f10",
    send: (_lib, secret, at) => {
      const event = { "x-event-id": "8a1c0c52-3f0e-4f3a-9d49-0d8c2f1b6e77", "x-event-type": "shop.order.paid" };
      const t = seconds(at);
      const names = Object.keys(event).join(" ");
      const values = Object.values(event).join(".");
      const v0 = hmac256(secret, "hex", `${t}.${EVENT}`);
      const v1 = hmac256(secret, "hex", `${t}.${names}.${values}.${EVENT}`);
      return { headers: { ...event, "x-hook0-signature": `t=${t},v0=${v0},h=${names},v1=${v1}` } };
    },
    accepts: (lib, { body, headers }, secret) => {
      const both = headers["x-hook0-signature"] ?? "";
      const accepts = (signature: string) =>
        lib.verifyWebhookSignature(signature, Buffer.from(body), new Headers(headers), secret, 300);
      return accepts(both) && accepts(olderOfHook0(both));
    },
  },
];

interface ShopifyWebhooks {
  webhooks: { validate(request: object): Promise<{ valid: boolean }> };
}
