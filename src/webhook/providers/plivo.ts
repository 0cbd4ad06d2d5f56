import { randomUUID } from "node:crypto";
import { parse } from "node:querystring";
import { splitTarget } from "../../lib/request-target.ts";
import { isInQuery } from "../content/body.ts";
import { FORM } from "../content/content.ts";
import { isoSeconds } from "../provider/sample.ts";
import { provider, says } from "../provider.ts";
import type { SignedRequest } from "../signature/signed-text.ts";
import { base64OfBody } from "../signature/signing.ts";
import { SORTED_FORM } from "../signature/sorted-form.ts";

export default provider({
  title: "Plivo",
  docs: "https://docs.plivo.com/docs/voice/xml/request/validation",
  // Version 3 of its signature, with the secret of the account or of its main account. Version 2 does not cover the
  // body.
  schemes: base64OfBody(
    { headers: ["x-plivo-signature-v3", "x-plivo-signature-ma-v3"] },
    {
      format: "values",
      signed: "{own:address}{own:form}.{header:x-plivo-signature-v3-nonce}",
      parts: {
        address: { read: addressIn, readsAddress: true },
        form: SORTED_FORM,
      },
      only: { mediaType: FORM },
      isIdentity: true,
      addressForms: ["port"],
    },
  ),
  type: ["body:Status", "body:CallStatus", "body:Event"],
  contentTypes: [FORM],
  // It reads the answer of an address for calls as XML.
  acknowledgement: { type: "text/xml", text: "<Response/>" },
  facts: says("https://plivo.com/docs/voice/concepts/callbacks", { answerSeconds: 15 }),
  evidence: {
    kind: "published",
    by: "https://github.com/plivo/plivo-go/blob/bb6d824e04c9b585a51d2107b2d4df1f3c7b6f0c/utils_test.go",
  },
  sample: {
    type: "delivered",
    content: {
      form: ({ type, now }) => {
        const uuid = randomUUID();
        const time = (ms: number) => `${isoSeconds(ms).replace("T", " ")}.000000`;
        return {
          DeliveryReportTime: time(now),
          ErrorCode: "000",
          From: "15550100001",
          MCC: "310",
          MNC: "004",
          MessageTime: time(now - 3000),
          MessageUUID: uuid,
          ParentMessageUUID: uuid,
          PartInfo: "1 of 1",
          QueuedTime: time(now - 3000),
          SentTime: time(now - 2000),
          Status: type,
          To: "15550100002",
          TotalAmount: "0.00550",
          TotalRate: "0.00550",
          Type: "sms",
          Units: "1",
        };
      },
    },
  },
});

/**
 * The address as Plivo signs it, with the parameters of its query decoded and sorted. A form follows, but not by `GET`:
 * https://github.com/plivo/plivo-go/blob/0348a8fc2449a62f0f28cae4c1e4eab4f446f763/utils.go
 */
function addressIn({ method, origin, target }: SignedRequest): Uint8Array {
  const [path, query] = splitTarget(target);
  const ending = isInQuery(method) ? "" : ".";
  if (query === undefined) return Buffer.from(`${origin}${path}${ending && "?"}`, "latin1");
  const parameters = Object.entries(parse(query, "&", "=", { maxKeys: 0 })).sort(([one], [other]) =>
    one < other ? -1 : 1,
  );
  const sorted = parameters.flatMap(([name, values = []]) =>
    [values]
      .flat()
      .sort()
      .map((value) => `${name}=${value}`),
  );
  return Buffer.concat([Buffer.from(`${origin}${path}?`, "latin1"), Buffer.from(sorted.join("&") + ending)]);
}
