import { type Delivery, EVENT, hmac256, type Provider, seconds } from "./delivery.ts";

const dataIdOf = (url: string) => new URL(url).searchParams.get("data.id");

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

/** Shops and payments, whose package only checks: the recipe signs, and counts once the package accepts. */
export const commerce: Provider[] = [
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
    send: (_lib, secret, _at, url) => ({
      headers: { "x-square-hmacsha256-signature": hmac256(secret, "base64", url + EVENT) },
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
    preset: "mercado_pago",
    package: "mercadopago",
    how: "checked",
    secret: "mercado pago secret",
    send: (_lib, secret, at, url) => {
      const requestId = "bb56a2f1-6aae-46ac-982e-9dcd3581d08e";
      const content = `id:123456;request-id:${requestId};ts:${seconds(at)};`;
      return {
        url: new URL("?data.id=123456&type=payment", url).href,
        body: JSON.stringify({ id: 4200, type: "payment", action: "payment.updated", data: { id: "123456" } }),
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
];

interface ShopifyWebhooks {
  webhooks: { validate(request: object): Promise<{ valid: boolean }> };
}
