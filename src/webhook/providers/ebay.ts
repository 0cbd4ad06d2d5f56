import { hash } from "node:crypto";
import { openContent } from "../content/content.ts";
import { inQuery, json } from "../provider/handshake.ts";
import { provider, says } from "../provider.ts";
import type { OwnFormat } from "../signature/signed-text.ts";
import { keySignature } from "../signature/signing.ts";

/** The signature is a member of a JSON object in base64. */
const FORMAT: OwnFormat = {
  read: (value) => {
    const signature = openContent(Buffer.from(value, "base64"), "application/json").member("signature");
    return [{ signatures: typeof signature === "string" ? [signature] : [] }];
  },
  write: (signature) => Buffer.from(JSON.stringify({ signature })).toString("base64"),
};

export default provider({
  title: "eBay",
  docs: "https://developer.ebay.com/api-docs/commerce/notification/overview.html",
  schemes: keySignature("ecdsa", "x-ebay-signature", { format: FORMAT, algorithm: "sha1" }),
  id: ["body:notification.notificationId"],
  type: ["body:metadata.topic"],
  handshake: {
    kind: "ebay",
    hasToken: true,
    json: { challengeResponse: "text" },
    ...inQuery("challenge_code", (code, { token = "", endpoint }) =>
      json({ challengeResponse: hash("sha256", `${code}${token}${endpoint}`) }),
    ),
  },
  facts: says(
    "https://github.com/eBay/event-notification-nodejs-sdk/blob/feaf3378ca263a81432cf5b8c8a6fd8cb3d3e2f3/test/test.json",
    { repeatChanges: ["body"] },
  ),
  evidence: {
    kind: "published",
    by: "https://github.com/eBay/event-notification-nodejs-sdk/blob/feaf3378ca263a81432cf5b8c8a6fd8cb3d3e2f3/test/test.json",
  },
});
