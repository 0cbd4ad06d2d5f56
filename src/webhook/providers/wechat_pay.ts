import { provider } from "../provider.ts";
import { keySignature } from "../signing.ts";

export default provider({
  title: "WeChat Pay",
  docs: "https://pay.weixin.qq.com/doc/v3/merchant/4012365342",
  schemes: keySignature("rsa", "wechatpay-signature", {
    timestamp: { header: "wechatpay-timestamp" },
    signed: "{timestamp}\n{header:wechatpay-nonce}\n{body}\n",
  }),
  id: ["body:id"],
  type: ["body:event_type"],
  evidence: {
    kind: "published",
    by: "https://github.com/wechatpay-apiv3/wechatpay-go/blob/6dbd7ce2ec5967ac2de5fa053479b411967b9c29/core/notify/notify_test.go",
  },
});
