import { createHash } from "node:crypto";
import { mock } from "node:test";
import { EVENT, FORM, type Package, type Provider, seconds } from "./delivery.ts";
import {
  ED25519_PUBLIC,
  P256_PUBLIC_DER,
  P256_PUBLIC_PEM,
  RSA_PUBLIC_PEM,
  signEd25519,
  signP256,
  signRsa,
} from "./keys.ts";

const ADOBE_CLIENT_ID = "f1b2c3d4e5f60718";
const WECHAT_SERIAL = "5157F09EFDC096DE15EBE81A47057A7232F1B8E1";

/** Providers that sign with a private key. Their packages only check. */
export const publicKey: Provider[] = [
  {
    preset: "discord",
    package: "discord-interactions",
    how: "checked",
    keys: [ED25519_PUBLIC.toString("hex")],
    send: (_lib, _key, at) => ({
      headers: {
        "x-signature-timestamp": seconds(at),
        "x-signature-ed25519": signEd25519(seconds(at) + EVENT).toString("hex"),
      },
    }),
    accepts: (lib, { body, headers }, key) =>
      lib.verifyKey(body, headers["x-signature-ed25519"], headers["x-signature-timestamp"], key),
  },
  {
    preset: "fal",
    package: "libsodium-wrappers",
    prescribedBy: "https://fal.ai/docs/documentation/model-apis/inference/webhooks",
    how: "checked",
    keys: [ED25519_PUBLIC.toString("hex")],
    send: (_lib, _key, at) => {
      const [id, user] = ["5057fca7-2eb3-468f-b95d-cefe92b0b9d4", "github|4200"];
      return {
        headers: {
          "x-fal-webhook-request-id": id,
          "x-fal-webhook-user-id": user,
          "x-fal-webhook-timestamp": seconds(at),
          "x-fal-webhook-signature": signEd25519(falMessage(id, user, seconds(at), EVENT)).toString("hex"),
        },
      };
    },
    accepts: async ({ default: sodium }, { body, headers }, key) => {
      await sodium.ready;
      const named = ["request-id", "user-id", "timestamp"].map((name) => headers[`x-fal-webhook-${name}`]);
      return sodium.crypto_sign_verify_detached(
        Buffer.from(headers["x-fal-webhook-signature"] ?? "", "hex"),
        Buffer.from(falMessage(...named, body)),
        Buffer.from(key, "hex"),
      );
    },
  },
  {
    preset: "telnyx",
    package: "telnyx",
    how: "checked",
    keys: [ED25519_PUBLIC.toString("base64")],
    send: (_lib, _key, at) => ({
      headers: {
        "telnyx-timestamp": seconds(at),
        "telnyx-signature-ed25519": signEd25519(`${seconds(at)}|${EVENT}`).toString("base64"),
      },
    }),
    accepts: (lib, { body, headers }, publicKey) =>
      new lib.default({ apiKey: "unused", publicKey }).webhooks.unwrap(body, { headers }),
  },
  {
    preset: "sendgrid",
    package: "@sendgrid/eventwebhook",
    how: "checked",
    keys: [P256_PUBLIC_DER.toString("base64")],
    send: (_lib, _key, at) => {
      const body = JSON.stringify([{ email: "zoë@example.com", event: "open", sg_event_id: "4200" }]);
      return {
        headers: {
          "x-twilio-email-event-webhook-timestamp": seconds(at),
          "x-twilio-email-event-webhook-signature": signP256(seconds(at) + body, "sha256").toString("base64"),
        },
        body,
      };
    },
    accepts: (lib, { body, headers }, key) => {
      const webhook = new lib.EventWebhook();
      return webhook.verifySignature(
        webhook.convertPublicKeyToECDSA(key),
        body,
        headers["x-twilio-email-event-webhook-signature"],
        headers["x-twilio-email-event-webhook-timestamp"],
      );
    },
  },
  {
    preset: "ebay",
    package: "event-notification-nodejs-sdk",
    module: "event-notification-nodejs-sdk/lib/validator.js",
    how: "checked",
    keys: [P256_PUBLIC_PEM],
    send: () => {
      const body = JSON.stringify({
        metadata: { topic: "ORDER" },
        notification: { notificationId: "n", data: { a: 4200 } },
      });
      const signature = signP256(body, "sha1").toString("base64");
      const header = { alg: "ecdsa", kid: "9936261a-7d7b-4621-a0f1-96ccb428af49", signature, digest: "SHA1" };
      return { headers: { "x-ebay-signature": Buffer.from(JSON.stringify(header)).toString("base64") }, body };
    },
    accepts: ebayAccepts,
  },
  {
    preset: "adobe_io",
    package: "@adobe/aio-lib-events",
    module: "@adobe/aio-lib-events/src/signatureUtils.js",
    how: "checked",
    keys: [RSA_PUBLIC_PEM],
    send: () => {
      const body = JSON.stringify({ recipient_client_id: ADOBE_CLIENT_ID, event_id: "e", event: { amount: 4200 } });
      return {
        headers: {
          "x-adobe-event-id": "e",
          "x-adobe-digital-signature-1": signRsa(body),
          "x-adobe-digital-signature-2": "",
          "x-adobe-public-key1-path": "/prod/keys/pub-key-1.pem",
          "x-adobe-public-key2-path": "/prod/keys/pub-key-2.pem",
        },
        body,
      };
    },
    accepts: (lib, { body, headers }, key) => {
      const signatures = [headers["x-adobe-digital-signature-1"], headers["x-adobe-digital-signature-2"]];
      return lib.exportFunctions.verifySignature(signatures, body, [key, key], ADOBE_CLIENT_ID);
    },
  },
  {
    // Its developers' community made it: WeChat Pay has no package of its own for Node.
    preset: "wechat_pay",
    package: "wechatpay-node-v3",
    how: "checked",
    keys: [RSA_PUBLIC_PEM],
    send: (_lib, _key, at) => {
      const nonce = "d824f2e086d3c1df967785d13fcd22ef";
      return {
        headers: {
          "wechatpay-serial": WECHAT_SERIAL,
          "wechatpay-timestamp": seconds(at),
          "wechatpay-nonce": nonce,
          "wechatpay-signature": signRsa(`${seconds(at)}\n${nonce}\n${EVENT}\n`),
        },
      };
    },
    accepts: (lib, { body, headers }, key) => {
      const Pay = lib.default.default ?? lib.default;
      // Where the package keeps the keys that it has fetched.
      Pay.certificates[WECHAT_SERIAL] = key;
      const pay = new Pay({ appid: "unused", mchid: "unused", serial_no: "unused", publicKey: "unused" });
      return pay.verifySign({
        timestamp: headers["wechatpay-timestamp"],
        nonce: headers["wechatpay-nonce"],
        serial: headers["wechatpay-serial"],
        signature: headers["wechatpay-signature"],
        body,
      });
    },
  },
  {
    preset: "alipay",
    package: "alipay-sdk",
    how: "checked",
    keys: [RSA_PUBLIC_PEM],
    send: () => {
      const fields = {
        app_id: "2021000000000000",
        notify_id: "2026090100222120000",
        notify_time: "2026-09-01 20:00:00",
        notify_type: "trade_status_sync",
        // An empty field is signed as well.
        passback_params: "",
        subject: "日本 100% + Zoë & co = 🙂",
        total_amount: "4200.00",
        trade_status: "TRADE_SUCCESS",
      };
      const content = Object.entries(fields).map((field) => field.join("="));
      const body = new URLSearchParams({ ...fields, sign_type: "RSA2", sign: signRsa(content.join("&")) }).toString();
      return { headers: { "content-type": FORM }, body };
    },
    accepts: (lib, { body }, alipayPublicKey) => {
      const config = { appId: "2021000000000000", privateKey: "unused", alipayPublicKey: bare(alipayPublicKey) };
      return new lib.AlipaySdk(config).checkNotifySignV2(Object.fromEntries(new URLSearchParams(body)));
    },
  },
];

/** What fal signs of its headers and the body, the last of these. */
function falMessage(...parts: (string | undefined)[]): string {
  const body = parts.pop() ?? "";
  return [...parts, createHash("sha256").update(body).digest("hex")].join("\n");
}

/** The base64 of a PEM alone, as Alipay shows it. */
const bare = (pem: string) => pem.replace(/-----[^-]+-----|\s/g, "");

/** The package asks eBay for the key, which is answered here. */
async function ebayAccepts(
  lib: Package,
  { body, headers }: { body: string; headers: Record<string, string> },
  key: string,
): Promise<boolean> {
  const { default: client } = await import(EBAY_CLIENT);
  const answered = mock.method(client, "getPublicKey", async () => ({ key: key.replaceAll("\n", "") }));
  try {
    return await lib.validateSignature(JSON.parse(body), headers["x-ebay-signature"], {});
  } finally {
    answered.mock.restore();
  }
}

const EBAY_CLIENT: string = "event-notification-nodejs-sdk/lib/client.js";
