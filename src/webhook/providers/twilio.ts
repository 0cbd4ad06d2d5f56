import { randomUUID } from "node:crypto";
import { FORM } from "../content/content.ts";
import { hex, isoSeconds } from "../provider/sample.ts";
import { provider, says } from "../provider.ts";
import { base64OfBody } from "../signature/signing.ts";
import { SORTED_FORM } from "../signature/sorted-form.ts";

export default provider({
  title: "Twilio",
  docs: "https://www.twilio.com/docs/usage/webhooks/webhooks-security",
  schemes: [
    {
      signed: "{url}{own:form}",
      parts: { form: SORTED_FORM },
      only: { mediaType: FORM, withoutQuery: "bodySHA256" },
      isIdentity: true as const,
    },
    { signed: "{url}", bodyHash: { query: "bodySHA256" } },
  ].map((what) =>
    base64OfBody("x-twilio-signature", {
      algorithm: "sha1",
      addressForms: ["port", "credentials", "query-encoded", "normalized"],
      ...what,
    }),
  ),
  // The SID of a message or call is the same in each of its status callbacks.
  id: ["header:i-twilio-idempotency-token"],
  type: ["body:MessageStatus", "body:CallStatus", "body:SmsStatus"],
  contentTypes: [FORM, "application/json"],
  // It reads the answer as TwiML: any other is an error in its console, and a caller hears it.
  // https://www.twilio.com/docs/errors/12300
  acknowledgement: { type: "text/xml", text: "<Response/>" },
  facts: says("https://www.twilio.com/docs/errors/12300", { answer: "TwiML, or 204" }),
  evidence: {
    kind: "published",
    by: "https://github.com/twilio/twilio-node/blob/45d3d65a4ea87652f4c7973af0e0998f3af31322/spec/validation.spec.js",
  },
  sample: {
    type: "delivered",
    newId: randomUUID,
    headers: ({ id }) => ({
      accept: "*/*",
      "user-agent": "TwilioProxy/1.1",
      "i-twilio-idempotency-token": id,
      "x-home-region": "us1",
    }),
    content: {
      form: ({ type, now }) => {
        const messageSid = `SM${hex(32)}`;
        return {
          ApiVersion: "2010-04-01",
          AccountSid: `AC${hex(32)}`,
          From: "+15550100001",
          MessageSid: messageSid,
          MessageStatus: type,
          MessagingServiceSid: `MG${hex(32)}`,
          RawDlrDoneDate: isoSeconds(now).slice(2, 16).replace(/\D/g, ""),
          SmsSid: messageSid,
          SmsStatus: type,
          To: "+15550100002",
        };
      },
    },
  },
});
