import { EVENT, FORM, type Package, type Provider, seconds } from "./delivery.ts";

const BRAINTREE_PUBLIC_KEY = "integration_public_key";

/** Twilio calls them parameters. The blank and the plus sign tell whether a form was decoded once. */
const SMS = { MessageSid: "SM5f2c", From: "+4915112345678", To: "+12025550143", Body: "4200 € für Zoë + tea" };

function braintree(
  lib: { BraintreeGateway: new (config: object) => never; Environment: { Sandbox: object } },
  key: string,
) {
  const environment = lib.Environment.Sandbox;
  return new lib.BraintreeGateway({
    environment,
    merchantId: "integration_merchant_id",
    publicKey: BRAINTREE_PUBLIC_KEY,
    privateKey: key,
  });
}

const pathOf = (url: string) => url.slice(new URL(url).origin.length);

/** The signatures of HubSpot without a time. */
function hubspotOlder(version: "v1" | "v2"): Provider {
  return {
    preset: "hubspot",
    variant: version,
    package: "@hubspot/api-client",
    how: "signed",
    secret: "6f1c8f9e-client-secret",
    send: (lib, clientSecret, _at, url) => ({
      headers: {
        "x-hubspot-signature-version": version,
        "x-hubspot-signature": lib.Signature.getSignature("POST", version, { clientSecret, url, requestBody: EVENT }),
      },
    }),
    accepts: (lib, { url, method, body, headers }, clientSecret) =>
      lib.Signature.isValid({
        signatureVersion: version,
        signature: headers["x-hubspot-signature"],
        requestBody: body,
        clientSecret,
        method,
        url,
      }),
  };
}

/** Providers whose package signs. */
export const signed: Provider[] = [
  {
    preset: "stripe",
    package: "stripe",
    how: "signed",
    // All of this text is the key, `whsec_` included.
    secret: "whsec_test_7Yw2uEoWc1pS",
    send: (lib, secret, at) => ({
      headers: {
        "stripe-signature": new lib.default("sk_test_unused").webhooks.generateTestHeaderString({
          payload: EVENT,
          secret,
          timestamp: Number(seconds(at)),
        }),
      },
    }),
    accepts: (lib, { body, headers }, secret) =>
      new lib.default("sk_test_unused").webhooks.constructEvent(body, headers["stripe-signature"], secret),
  },
  {
    preset: "github",
    package: "@octokit/webhooks-methods",
    how: "signed",
    secret: "It's a Secret to Everybody",
    send: async (lib, secret) => ({
      headers: {
        "x-github-event": "ping",
        "x-github-delivery": "72d3162e-cc78-11e3-81ab-4c9367dc0958",
        "x-hub-signature-256": await lib.sign(secret, EVENT),
      },
    }),
    accepts: (lib, { body, headers }, secret) => lib.verify(secret, body, headers["x-hub-signature-256"]),
  },
  {
    preset: "contentful",
    package: "@contentful/node-apps-toolkit",
    how: "signed",
    secret: "q3Wc0Zt7yR1uVn5pXb9sKd2gHf6jLm8aEo4iTz-_QwErTyUiOpAsDfGhJkLzXcVb",
    send: (lib, secret, at, url) => {
      const headers = {
        "content-type": "application/vnd.contentful.management.v1+json",
        "x-contentful-topic": "ContentManagement.Entry.publish",
      };
      const request = { method: "POST", path: pathOf(url), headers, body: EVENT };
      return { headers: { ...headers, ...lib.signRequest(secret, request, at) } };
    },
    accepts: (lib, { url, method, headers, body }, secret) =>
      lib.verifyRequest(secret, { method, path: pathOf(url), headers, body }),
  },
  {
    preset: "twilio",
    package: "twilio",
    how: "signed",
    secret: "0123456789abcdef0123456789abcdef",
    send: (lib, secret, _at, url) => ({
      headers: {
        "content-type": FORM,
        "x-twilio-signature": lib.default.getExpectedTwilioSignature(secret, url, SMS),
      },
      body: new URLSearchParams(SMS).toString(),
    }),
    accepts: (lib, { url, body, headers }, secret) =>
      lib.default.validateRequest(
        secret,
        headers["x-twilio-signature"],
        url,
        Object.fromEntries(new URLSearchParams(body)),
      ),
  },
  {
    preset: "twilio",
    variant: "JSON",
    package: "twilio",
    how: "signed",
    secret: "0123456789abcdef0123456789abcdef",
    send: (lib, secret, _at, url) => {
      const signedUrl = `${url}&bodySHA256=${lib.default.getExpectedBodyHash(EVENT)}`;
      const signature = lib.default.getExpectedTwilioSignature(secret, signedUrl, {});
      return { url: signedUrl, headers: { "x-twilio-signature": signature } };
    },
    accepts: (lib, { url, body, headers }, secret) =>
      lib.default.validateRequestWithBody(secret, headers["x-twilio-signature"], url, body),
  },
  hubspotOlder("v1"),
  hubspotOlder("v2"),
  {
    preset: "hubspot",
    package: "@hubspot/api-client",
    how: "signed",
    secret: "6f1c8f9e-client-secret",
    send: (lib, clientSecret, at, url) => {
      const options = { clientSecret, url, requestBody: EVENT, timestamp: at };
      return {
        headers: {
          "x-hubspot-request-timestamp": String(at),
          "x-hubspot-signature-v3": lib.Signature.getSignature("POST", "v3", options),
        },
      };
    },
    accepts: (lib, { url, method, body, headers }, clientSecret) =>
      lib.Signature.isValid({
        signatureVersion: "v3",
        signature: headers["x-hubspot-signature-v3"],
        timestamp: Number(headers["x-hubspot-request-timestamp"]),
        requestBody: body,
        clientSecret,
        method,
        url,
      }),
  },
  {
    preset: "sanity",
    package: "@sanity/webhook",
    how: "signed",
    secret: "sanity webhook secret",
    send: async (lib, secret, at) => ({
      headers: { "sanity-webhook-signature": await lib.encodeSignatureHeader(EVENT, at, secret) },
    }),
    accepts: (lib, { body, headers }, secret) =>
      lib.isValidSignature(body, headers["sanity-webhook-signature"], secret),
  },
  {
    preset: "notion",
    package: "@notionhq/client",
    how: "signed",
    secret: "secret_tMrlL1qK5vuQAh1b6cZGhFChZTSYJlce98V0pYn7yBl",
    send: async (lib, verificationToken) => ({
      headers: { "x-notion-signature": await lib.signWebhookPayload({ body: EVENT, verificationToken }) },
    }),
    accepts: (lib, { body, headers }, verificationToken) =>
      lib.verifyWebhookSignature({ body, signature: headers["x-notion-signature"], verificationToken }),
  },
  {
    preset: "braintree",
    package: "braintree",
    how: "signed",
    secret: "integration_private_key",
    send: async (lib, secret) => {
      const gateway: BraintreeWebhooks = braintree(lib.default, secret);
      const notification = await gateway.webhookTesting.sampleNotification("subscription_went_past_due", "sub_4200");
      return { headers: { "content-type": FORM }, body: new URLSearchParams(notification).toString() };
    },
    accepts: (lib, { body }, secret) => {
      const gateway: BraintreeWebhooks = braintree(lib.default, secret);
      const form = new URLSearchParams(body);
      return gateway.webhookNotification.parse(form.get("bt_signature"), form.get("bt_payload"));
    },
    alter: (delivery) => {
      const form = new URLSearchParams(delivery.body);
      const xml = Buffer.from(form.get("bt_payload") ?? "", "base64").toString("utf8");
      form.set("bt_payload", `${Buffer.from(xml.replace("sub_4200", "sub_4201")).toString("base64")}\n`);
      return { ...delivery, body: form.toString() };
    },
  },
  {
    preset: "coinbase_commerce",
    package: "coinbase-commerce-node",
    how: "signed",
    secret: "4c3f1a2b-shared-secret",
    send: (lib, secret) => ({
      headers: { "x-cc-webhook-signature": lib.default.Webhook.computeSignature(EVENT, secret) },
    }),
    accepts: (lib, { body, headers }, secret) =>
      lib.default.Webhook.verifySigHeader(body, headers["x-cc-webhook-signature"], secret),
  },
  {
    preset: "workos",
    package: "@workos-inc/node",
    how: "signed",
    secret: "workos webhook secret",
    send: async (lib, secret, at) => {
      const { webhooks } = new lib.WorkOS("sk_unused");
      const signature = await webhooks.computeSignature(at, JSON.parse(EVENT), secret);
      return { headers: { "workos-signature": `t=${at}, v1=${signature}` } };
    },
    accepts: (lib, { body, headers }, secret) =>
      new lib.WorkOS("sk_unused").webhooks.verifyHeader({
        payload: JSON.parse(body),
        sigHeader: headers["workos-signature"],
        secret,
      }),
  },
  {
    preset: "segment",
    package: "@segment/action-destinations",
    module: "@segment/action-destinations/dist/destinations/webhook/index.js",
    how: "signed",
    secret: "segment shared secret",
    send: (lib, secret, _at, url) => {
      const destination = segmentOf(lib);
      let body = "";
      const payload = { url, method: "POST", data: JSON.parse(EVENT) };
      destination.actions.send.perform((_url, { json }) => (body = JSON.stringify(json)), { payload });
      return { headers: { "x-signature": segmentSignature(destination, body, secret) }, body };
    },
    // It signs only: what it would sign tells.
    accepts: (lib, { body, headers }, secret) =>
      segmentSignature(segmentOf(lib), body, secret) === headers["x-signature"],
  },
];

/** A module of CommonJS, which tsx unwraps and Node does not. */
const segmentOf = (lib: Package): SegmentWebhook => lib.default.default ?? lib.default;

const segmentSignature = (destination: SegmentWebhook, body: string, sharedSecret: string) =>
  destination.extendRequest({ settings: { sharedSecret }, payload: { data: JSON.parse(body) } }).headers["X-Signature"];

interface SegmentWebhook {
  extendRequest(sent: { settings: object; payload: object }): { headers: { "X-Signature": string } };
  actions: {
    send: { perform(request: (url: string, options: { json: object }) => void, sent: { payload: object }): void };
  };
}

interface BraintreeWebhooks {
  webhookTesting: { sampleNotification(kind: string, id: string): Promise<Record<string, string>> };
  webhookNotification: { parse(signature: string | null, payload: string | null): Promise<object> };
}
