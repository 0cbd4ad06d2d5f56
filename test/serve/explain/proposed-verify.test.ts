import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { suite, test } from "node:test";
import { explainDelivery } from "../../../src/serve/explain/delivery.ts";
import { parseRawRequest } from "../../../src/webhook/held/raw-request.ts";
import { ENVIRONMENT, sourceIn } from "../../helpers/config-file.ts";
import { EXPLAIN_OPTIONS } from "../../helpers/explain-options.ts";

const NOW = 1_800_000_000_000;
const SECONDS = String(NOW / 1000);
const BODY = '{"id":"o_1","type":"paid"}';

/** Explains a delivery to a source with this description. */
function explain(verify: string, headers: Record<string, string>, at = NOW) {
  const source = sourceIn(`{ ${verify}, secrets: [env:SECRET], path: /hook }`);
  const lines = Object.entries({ "Content-Type": "application/json", ...headers });
  const head = lines.map(([name, value]) => `${name}: ${value}\n`).join("");
  const raw = parseRawRequest(Buffer.from(`POST /hook?a=b HTTP/1.1\n${head}\n${BODY}`));
  assert.ok(typeof raw === "object");
  const sentTo = { origin: "https://example.com", target: "/hook?a=b" };
  return explainDelivery(source, raw, { ...EXPLAIN_OPTIONS, now: at, sentTo });
}

type Digest = "md5" | "sha1" | "sha256" | "sha512";
type Encoding = "hex" | "base64" | "base64url";

function sign(text: string, digest: Digest = "sha256", encoding: Encoding = "hex"): string {
  return createHmac(digest, ENVIRONMENT.SECRET).update(text).digest(encoding);
}

const HEADER = "header: x-sig";

suite("a wrong signature is explained by a description that accepts it", () => {
  for (const [headers, proposed] of [
    [{ "X-Sig": sign(BODY, "sha256", "base64") }, `${HEADER}, encoding: base64`],
    [{ "X-Sig": Buffer.from(sign(BODY)).toString("base64") }, `${HEADER}, encoding: base64-hex`],
    [{ "X-Sig": sign(BODY, "sha1", "base64url") }, `${HEADER}, algorithm: sha1, encoding: base64url`],
    [{ "X-Sig": sign(BODY, "md5") }, `${HEADER}, algorithm: md5`],
    [{ "X-Sig": sign(BODY, "sha512") }, `${HEADER}, algorithm: sha512`],
    [{ "X-Sig": `sha256=${sign(BODY)}` }, `${HEADER}, prefix: "sha256="`],
    [{ Authorization: `HMAC ${sign(BODY)}` }, 'header: authorization, prefix: "HMAC "'],
    [{ "X-Other": sign(BODY) }, "header: x-other"],
    [
      { "X-Sig": sign(`${SECONDS}.${BODY}`), "X-Time": SECONDS },
      `${HEADER}, signed: "{timestamp}.{body}", timestamp: { header: x-time }`,
    ],
    [
      { "X-Sig": sign(`${NOW}:${BODY}`), "X-Time": String(NOW) },
      `${HEADER}, signed: "{timestamp}:{body}", timestamp: { header: x-time, unit: ms }`,
    ],
    [
      { "X-Sig": sign(`${SECONDS}\n${BODY}`), "X-Time": SECONDS },
      `${HEADER}, signed: "{timestamp}\\n{body}", timestamp: { header: x-time }`,
    ],
    [
      { "X-Sig": sign(`${BODY}2027-01-15T08:00:00Z`), "X-Time": "2027-01-15T08:00:00Z" },
      `${HEADER}, signed: "{body}{timestamp}", timestamp: { header: x-time, unit: iso }`,
    ],
    [
      { "X-Sig": `t=${SECONDS},v1=${sign(`${SECONDS}.${BODY}`)}` },
      `${HEADER}, format: pairs, label: v1, signed: "{timestamp}.{body}", timestamp: { pair: t }`,
    ],
    [
      { "X-Sig": `v1,${sign(`m_1.${SECONDS}.${BODY}`, "sha256", "base64")}`, "X-Id": "m_1", "X-Time": SECONDS },
      `${HEADER}, encoding: base64, format: list, label: v1, signed: "{header:x-id}.{timestamp}.{body}", timestamp: { header: x-time }`,
    ],
    [{ "X-Sig": sign(`https://example.com/hook?a=b${BODY}`) }, `${HEADER}, signed: "{url}{body}"`],
  ] as const) {
    test(proposed, async () => {
      const wrong = await explain('verify: { header: x-sig, signed: "{method} {body}" }', headers);
      assert.deepEqual([wrong.genuine, wrong.verify], [false, `verify: { ${proposed} }`]);
      const mended = await explain(wrong.verify ?? "", headers);
      assert.deepEqual([mended.answer.status, mended.verify], [200, null]);
    });
  }
});

test("a description is proposed for an old delivery, too", async () => {
  const headers = { "X-Sig": sign(`${SECONDS}:${BODY}`), "X-Time": SECONDS };
  const { verify } = await explain("verify: { header: x-sig }", headers, NOW + 86_400_000);
  assert.equal(verify, `verify: { ${HEADER}, signed: "{timestamp}:{body}", timestamp: { header: x-time } }`);
});

test("a source with a preset gets a proposal, too", async () => {
  const { verify } = await explain("preset: github", { "X-Hub-Signature-256": sign(BODY, "sha256", "base64") });
  // The header of the preset, in base64 and without its prefix.
  assert.equal(verify, "verify: { header: x-hub-signature-256, encoding: base64 }");
});

test("nothing is proposed for a signature that no secret has made", async () => {
  const forged = createHmac("sha256", "another secret").update(BODY).digest("hex");
  assert.equal((await explain("verify: { header: x-sig }", { "X-Sig": forged })).verify, null);
});
