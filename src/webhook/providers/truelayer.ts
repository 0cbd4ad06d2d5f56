import { splitTarget } from "../../lib/request-target.ts";
import { provider } from "../provider.ts";
import { bytesOf, headerText, type SignedRequest } from "../signature/signed-text.ts";

// It names two.
const MAX_HEADERS = 20;

/**
 * What its signatures cover, as https://github.com/TrueLayer/truelayer-signing says: the method and the path, the
 * headers that `tl_headers` of the token names, and the body.
 */
function payloadOf(
  { method, target, headers, content }: SignedRequest,
  { tl_version: version, tl_headers: list = "" }: Readonly<Record<string, unknown>>,
): Buffer | null {
  if (version !== "2" || typeof list !== "string") return null;
  const names = list.split(",").filter((name) => name !== "");
  if (names.length > MAX_HEADERS) return null;
  const lines = names.map((name) => `${name}: ${headerText(headers, name.toLowerCase()) ?? ""}\n`);
  const text = bytesOf(`${method} ${splitTarget(target)[0]}\n${lines.join("")}`);
  return text && Buffer.concat([text, content.bytes]);
}

export default provider({
  title: "TrueLayer",
  docs: "https://docs.truelayer.com/docs/validate-webhook-signatures",
  schemes: {
    type: "detached-jws",
    header: "tl-signature",
    algorithms: ["ES512"],
    payload: { of: payloadOf, header: { tl_version: "2" } },
  },
  keysUrl: "https://webhooks.truelayer.com/.well-known/jwks",
  id: ["body:event_id"],
  type: ["body:type", "body:event_type"],
  evidence: {
    kind: "published",
    by: "https://github.com/TrueLayer/truelayer-signing/blob/0a2c94a690f769498d70bfb69bc02051ab22cd60/test-resources/webhook-signature.txt",
  },
});
