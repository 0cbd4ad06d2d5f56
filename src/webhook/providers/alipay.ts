import { FORM } from "../content.ts";
import { provider } from "../provider.ts";
import { keySignature } from "../signing.ts";

export default provider({
  title: "Alipay",
  docs: "https://opendocs.alipay.com/common/02mse7",
  schemes: ["sign,sign_type", "sign"].map((others) =>
    keySignature("rsa", { form: "sign" }, { signed: `{form-except:${others}}` }),
  ),
  id: ["body:notify_id"],
  type: ["body:notify_type"],
  contentTypes: [FORM],
  acknowledgement: { type: "text/plain", text: "success" },
  evidence: {
    kind: "published",
    by: "https://github.com/alipay/alipay-sdk-nodejs-all/blob/e1676390871eb7a69b4f81aa15de8327ac15738a/test/alipay.test.ts",
  },
});
