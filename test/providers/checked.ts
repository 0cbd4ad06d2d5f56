import { mock } from "node:test";
import { type Delivery, EVENT, FORM, hmac256, type Provider, seconds } from "./delivery.ts";

const ZOOM_EVENT = JSON.stringify({ event: "user.updated", payload: { account_id: "Zoë", object: { id: 4200 } } });

/** Without the newer signature, which a check prefers to the older. */
const olderOfHook0 = (signature: string) =>
  signature
    .split(",")
    .filter((item) => !/^(?:h|v1)=/.test(item))
    .join(",");

/** The package is a server. */
async function npmAccepts(
  lib: { default(options: object): NpmReceiver },
  { url, method, headers, body }: Delivery,
  secret: string,
) {
  const { pathname } = new URL(url);
  const receiver = lib.default({ secret, mount: pathname });
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  try {
    const { ok } = await fetch(`http://127.0.0.1:${receiver.address().port}${pathname}`, { method, headers, body });
    return ok;
  } finally {
    await new Promise<void>((resolve) => receiver.close(resolve));
  }
}

const MESSAGE = {
  MessageUUID: "4200",
  From: "15550100001",
  To: "15550100002",
  Text: "Zoë – 日本",
  Status: "delivered",
};

/** The text of Plivo's signature has the query decoded and sorted, and begins otherwise for an address without one. */
function plivo(variant: "with a query" | "without a query"): Provider {
  const fields = Object.entries(MESSAGE).sort(([one], [other]) => (one < other ? -1 : 1));
  return {
    preset: "plivo",
    variant,
    package: "plivo",
    module: "plivo/dist/utils/v3Security.js",
    how: "checked",
    secret: "OTQ3ZjJhYzE4YmQ0ZTA2",
    send: (_lib, secret, _at, address) => {
      const [bare = ""] = address.split("?");
      const [url, start] = variant === "with a query" ? [address, `${bare}?note=a b&tenant=7.`] : [bare, `${bare}?`];
      return {
        url,
        headers: {
          "content-type": FORM,
          "x-plivo-signature-v3-nonce": "70712190561028",
          "x-plivo-signature-v3": hmac256(secret, "base64", `${start}${fields.flat().join("")}.70712190561028`),
        },
        body: new URLSearchParams(MESSAGE).toString(),
      };
    },
    accepts: (lib, { method, url, body, headers }, secret) =>
      lib.validateV3Signature(
        method,
        url,
        headers["x-plivo-signature-v3-nonce"],
        secret,
        headers["x-plivo-signature-v3"],
        Object.fromEntries(new URLSearchParams(body)),
      ),
  };
}

/** Providers whose package only checks: the recipe signs, and counts once the package accepts. */
export const checked: Provider[] = [
  plivo("without a query"),
  plivo("with a query"),
  {
    preset: "elevenlabs",
    package: "@elevenlabs/elevenlabs-js",
    how: "checked",
    secret: "wsec_7d1f0b6a9c3e48525a64",
    send: (_lib, secret, at) => ({
      headers: {
        "elevenlabs-signature": `t=${seconds(at)},v0=${hmac256(secret, "hex", `${seconds(at)}.${EVENT}`)}`,
      },
    }),
    accepts: (lib, { body, headers }, secret) =>
      new lib.ElevenLabsClient({ apiKey: "unused" }).webhooks.constructEvent(
        body,
        headers["elevenlabs-signature"],
        secret,
      ),
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
  {
    preset: "customer_io",
    package: "customerio-node",
    how: "checked",
    secret: "755781b5e03a973f3405a85474d5a032",
    send: (_lib, secret, at) => ({
      headers: {
        "x-cio-timestamp": seconds(at),
        "x-cio-signature": hmac256(secret, "hex", `v0:${seconds(at)}:${EVENT}`),
      },
    }),
    accepts: (lib, { body, headers }, signingSecret) =>
      lib.verifyRequestSignature({
        signingSecret,
        timestamp: headers["x-cio-timestamp"],
        signature: headers["x-cio-signature"],
        body,
      }),
  },
  {
    preset: "webflow",
    package: "webflow-api",
    how: "checked",
    secret: "webflow client secret",
    // The package takes the header as it is; Webflow's documentation shows milliseconds.
    send: (_lib, secret, at) => ({
      headers: {
        "x-webflow-timestamp": String(at),
        "x-webflow-signature": hmac256(secret, "hex", `${at}:${EVENT}`),
      },
    }),
    accepts: (lib, { body, headers }, secret) =>
      new lib.WebflowClient({ accessToken: "unused" }).webhooks.verifySignature({ headers, body, secret }),
  },
  {
    preset: "modern_treasury",
    package: "modern-treasury",
    how: "checked",
    secret: "modern treasury webhook key",
    send: (_lib, secret) => ({ headers: { "x-signature": hmac256(secret, "hex", EVENT) } }),
    accepts: (lib, { body, headers }, webhookKey) =>
      new lib.default({ apiKey: "unused", organizationID: "unused", webhookKey }).webhooks.validateSignature(
        body,
        headers,
      ),
  },
  {
    preset: "finch",
    package: "@tryfinch/finch-api",
    how: "checked",
    secret: Buffer.from("a key of thirty-two bytes, fixed").toString("base64"),
    send: (_lib, secret, at) => {
      const id = "msg_2mVnTq8Zr4";
      const signature = hmac256(Buffer.from(secret, "base64"), "base64", `${id}.${seconds(at)}.${EVENT}`);
      return {
        headers: { "finch-event-id": id, "finch-timestamp": seconds(at), "finch-signature": `v1,${signature}` },
      };
    },
    accepts: (lib, { body, headers }, webhookSecret) =>
      new lib.default({ accessToken: "unused", webhookSecret }).webhooks.unwrap(body, headers),
  },
  {
    preset: "zoom",
    package: "@zoom/rivet",
    module: "@zoom/rivet/users",
    how: "checked",
    secret: "zoom webhook secret token",
    send: (_lib, secret, at) => ({
      headers: {
        "x-zm-request-timestamp": seconds(at),
        "x-zm-signature": `v0=${hmac256(secret, "hex", `v0:${seconds(at)}:${ZOOM_EVENT}`)}`,
      },
      body: ZOOM_EVENT,
    }),
    accepts: async (lib, { body, headers }, webhooksSecretToken) => {
      // The package prints what it gets.
      mock.method(console, "debug", () => {}, { times: 1 });
      const { statusCode } = await new lib.AwsLambdaReceiver({ webhooksSecretToken }).start()({ body, headers });
      return statusCode === 200;
    },
  },
  {
    preset: "viber",
    package: "viber-bot",
    module: "viber-bot/lib/message/message-validator.js",
    how: "checked",
    secret: "445da6az1s345z78-dazcczb2542zv51a-e0vc5fva17480im9",
    send: (_lib, secret) => ({ headers: { "x-viber-content-signature": hmac256(secret, "hex", EVENT) } }),
    accepts: (lib, { body, headers }, secret) =>
      new lib.default({ debug() {} }, secret).validateMessage(headers["x-viber-content-signature"], body),
  },
  {
    preset: "mollie",
    package: "mollie-api-typescript",
    how: "checked",
    secret: "mollie signing secret",
    send: (_lib, secret) => ({ headers: { "x-mollie-signature": `sha256=${hmac256(secret, "hex", EVENT)}` } }),
    accepts: (lib, { body, headers }, secret) =>
      lib.SignatureValidator.validate(body, secret, headers["x-mollie-signature"]),
  },
  {
    preset: "npm",
    package: "npm-hook-receiver",
    how: "checked",
    secret: "npm hook secret",
    send: (_lib, secret) => {
      const change = { event: "package:change", name: "@example/zoë", change: { version: "1.0.4200" } };
      const body = JSON.stringify({ ...change, hookOwner: { username: "zoe" } });
      return { headers: { "x-npm-signature": `sha256=${hmac256(secret, "hex", body)}` }, body };
    },
    accepts: npmAccepts,
  },
];

interface NpmReceiver {
  listen(port: number, host: string, listening: () => void): void;
  address(): { port: number };
  close(closed: () => void): void;
}
