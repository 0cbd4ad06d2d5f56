import { FORM } from "../content/content.ts";
import { provider, says } from "../provider.ts";
import type { OwnPart } from "../signature/signed-text.ts";
import { keySignature } from "../signature/signing.ts";

const NAME = /^[\w.-]+$/;
const LIKE_A_FIELD = /&[\w.-]+=/;

/**
 * The fields of the form but for some, sorted by name, as `name=value` joined by `&`. Null if they could be read as
 * other fields with the same text.
 */
const fieldsWithout = (...others: string[]): OwnPart => ({
  read: ({ content }) => {
    if (content.mediaType !== FORM) return null;
    const fields = [...content.form()].filter(([name]) => !others.includes(name));
    const names = new Set(fields.map(([name]) => name));
    const isClear = fields.every(([name, value]) => NAME.test(name) && !LIKE_A_FIELD.test(value));
    if (!isClear || names.size < fields.length) return null;
    const sorted = fields.sort(([one], [other]) => (one < other ? -1 : 1));
    return Buffer.from(sorted.map((field) => field.join("=")).join("&"));
  },
  covers: { body: true },
});

export default provider({
  title: "Alipay",
  docs: "https://opendocs.alipay.com/common/02mse7",
  schemes: [fieldsWithout("sign", "sign_type"), fieldsWithout("sign")].map((fields) =>
    keySignature("rsa", { form: "sign" }, { signed: "{own:fields}", parts: { fields } }),
  ),
  id: ["body:notify_id"],
  type: ["body:notify_type"],
  contentTypes: [FORM],
  acknowledgement: { type: "text/plain", text: "success" },
  facts: says(
    "https://global.alipay.com/developer/helpcenter/detail?categoryId=67617&knowId=201602452303&sceneCode=AC_DEV",
    {
      answer: "the text success and nothing else",
      repeats: "automatic",
      schedule: "after 2, 10 and 10 minutes, and 1, 2, 6 and 15 hours",
      repeatsForSeconds: 87_720,
    },
  ),
  evidence: {
    kind: "published",
    by: "https://github.com/alipay/alipay-sdk-nodejs-all/blob/e1676390871eb7a69b4f81aa15de8327ac15738a/test/alipay.test.ts",
  },
});
