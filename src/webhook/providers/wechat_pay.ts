import { provider, says } from "../provider.ts";
import { keySignature } from "../signature/signing.ts";

export default provider({
  title: "WeChat Pay",
  docs: "https://pay.weixin.qq.com/doc/v3/merchant/4012365342",
  schemes: keySignature("rsa", "wechatpay-signature", {
    timestamp: { header: "wechatpay-timestamp" },
    signed: "{timestamp}\n{header:wechatpay-nonce}\n{body}\n",
  }),
  id: ["body:id"],
  type: ["body:event_type"],
  acknowledgement: { type: "text/plain", text: "" },
  facts: says("https://pay.weixin.qq.com/docs/merchant/apis/native-payment/payment-notice.html", {
    answer: "200 or 204 without a body",
    repeats: "automatic",
    schedule: "after 15, 15 and 30 seconds, 3, 10, 20, 30, 30, 30 and 60 minutes, 3, 3, 3, 6 and 6 hours",
    repeatsForSeconds: 24 * 3600 + 240,
  }),
  evidence: {
    kind: "published",
    by: "https://github.com/wechatpay-apiv3/wechatpay-go/blob/6dbd7ce2ec5967ac2de5fa053479b411967b9c29/core/notify/notify_test.go",
  },
});
