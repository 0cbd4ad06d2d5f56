import { provider } from "../provider.ts";
import { says } from "../provider-facts.ts";
import { keySignature } from "../signing.ts";

export default provider({
  title: "eBay",
  docs: "https://developer.ebay.com/api-docs/commerce/notification/overview.html",
  schemes: keySignature("ecdsa", "x-ebay-signature", { format: "json64", label: "signature", algorithm: "sha1" }),
  id: ["body:notification.notificationId"],
  type: ["body:metadata.topic"],
  handshake: "ebay",
  facts: says(
    "https://github.com/eBay/event-notification-nodejs-sdk/blob/feaf3378ca263a81432cf5b8c8a6fd8cb3d3e2f3/test/test.json",
    { repeatChanges: ["body"] },
  ),
  evidence: {
    kind: "published",
    by: "https://github.com/eBay/event-notification-nodejs-sdk/blob/feaf3378ca263a81432cf5b8c8a6fd8cb3d3e2f3/test/test.json",
  },
});
