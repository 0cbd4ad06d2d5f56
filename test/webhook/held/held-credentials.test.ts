import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { suite, test } from "node:test";
import { withoutCredentials } from "../../../src/webhook/held/held-credentials.ts";
import type { Source } from "../../../src/webhook/source.ts";
import { createReverify } from "../../../src/webhook/stages/reverify.ts";
import { sourceIn } from "../../helpers/config-file.ts";
import { secretOf } from "../../helpers/secret.ts";

const RIGHT = "the right pässword:of the shop";
const BODY = '{"id":"evt_1","type":"order.paid"}';

interface Sent {
  headers?: IncomingHttpHeaders;
  target?: string;
}

function withRightSecret(entry: string): Source {
  return { ...sourceIn(`{ ${entry} }`), secrets: [secretOf(RIGHT)] };
}

function kept(source: Source, { headers = {}, target = source.path }: Sent) {
  return withoutCredentials(source, { headers: { "content-type": "application/json", ...headers }, target });
}

/** What becomes of a held delivery. */
function reverified(source: Source, sent: Sent) {
  const held = {
    ...kept(source, sent),
    source: source.name,
    reason: "signature_mismatch",
    mediaType: "application/json",
  };
  const came = { method: "POST", origin: "https://hooks.example", address: "192.0.2.1", receivedAt: 0 };
  return createReverify(source)({ ...held, ...came, body: Buffer.from(BODY) });
}

const base64 = (text: string) => Buffer.from(text).toString("base64");
const latin1 = (text: string) => Buffer.from(text).toString("latin1");

/** Sources whose deliveries carry the secret itself, each with the delivery. */
const SHARED: [name: string, entry: string, sent: (path: string, secret: string) => Sent][] = [
  [
    "a token",
    "verify: { type: token, header: x-hook-id }",
    (_, secret) => ({ headers: { "x-hook-id": latin1(secret) } }),
  ],
  [
    "a bearer token",
    "preset: alertmanager",
    (_, secret) => ({ headers: { authorization: `bearer ${latin1(secret)}` } }),
  ],
  ["Basic", "preset: alertmanager", (_, secret) => ({ headers: { authorization: `Basic ${base64(secret)}` } })],
  ["a parameter", "preset: gumroad", (path, secret) => ({ target: `${path}?a=b&token=${encodeURIComponent(secret)}` })],
  ["the path", "preset: gumroad", (path, secret) => ({ target: `${path}/${encodeURIComponent(secret)}` })],
];

suite("credentials of held deliveries", () => {
  for (const [name, entry, sent] of SHARED) {
    test(`${name}: a digest is kept, by which it is verified later`, async () => {
      const types = 'contentTypes: ["application/json"]';
      const source = withRightSecret(`${entry}, secrets: [env:SECRET], keepRejected: {}, ${types}`);
      const delivery = sent(source.path, RIGHT);
      const text = JSON.stringify(kept(source, delivery));
      for (const form of [RIGHT, latin1(RIGHT), base64(RIGHT), encodeURIComponent(RIGHT)])
        assert.ok(!text.includes(form), text);
      assert.match(text, /sha256:[0-9a-f]{64}/);
      assert.ok("event" in (await reverified(source, delivery)));
      assert.ok("refused" in (await reverified(source, sent(source.path, "another secret"))));
    });

    test(`${name}: the digest of the secret is no secret`, async () => {
      const source = withRightSecret(`${entry}, secrets: [env:SECRET], keepRejected: {}`);
      const { headers, target } = kept(source, sent(source.path, RIGHT));
      const [digest = ""] = /sha256:[0-9a-f]{64}/.exec(headers + target) ?? [];
      assert.ok("refused" in (await reverified(source, sent(source.path, digest))));
    });
  }

  test("cookies, credentials and unsigned parameters are not kept", () => {
    const source = withRightSecret("verify: { header: x-sig }, secrets: [env:SECRET], keepRejected: {}");
    const headers = { "x-sig": "00", cookie: "a=1", authorization: "Bearer x", "x-api-key": "k", "user-agent": "u" };
    const { headers: text, target } = kept(source, { headers, target: `${source.path}?api_key=k` });
    assert.deepEqual(JSON.parse(text), { "content-type": "application/json", "user-agent": "u", "x-sig": "00" });
    assert.equal(target, source.path);
  });

  test("what a signature covers is kept, also under a confidential name", async () => {
    const verify = 'verify: { header: x-sig, signed: "{url}{header:x-key}.{body}" }';
    const source = withRightSecret(`${verify}, secrets: [env:SECRET], keepRejected: {}`);
    const target = `${source.path}?a=b`;
    const sig = createHmac("sha256", RIGHT).update(`https://hooks.example${target}k.${BODY}`).digest("hex");
    const sent = { target, headers: { "x-sig": sig, "x-key": "k" } };
    assert.ok("event" in (await reverified(source, sent)));
  });

  test("a signed token is kept, and another credential in its header is not", async () => {
    const source = withRightSecret("verify: { type: jwt }, secrets: [env:SECRET], keepRejected: {}");
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const signed = `${part({ alg: "HS256" })}.${part({})}`;
    const token = `${signed}.${createHmac("sha256", RIGHT).update(signed).digest("base64url")}`;
    assert.ok("event" in (await reverified(source, { headers: { authorization: `Bearer ${token}` } })));
    const { headers } = kept(source, { headers: { authorization: "Basic dXNlcjpwYXNz" } });
    assert.deepEqual(JSON.parse(headers), { "content-type": "application/json" });
  });

  test("a header with the type of the event is kept", () => {
    const source = withRightSecret("preset: bitbucket, secrets: [env:SECRET], keepRejected: {}");
    const { headers } = kept(source, { headers: { "x-event-key": "repo:push", "x-hub-signature": "sha256=00" } });
    assert.equal((JSON.parse(headers) as IncomingHttpHeaders)["x-event-key"], "repo:push");
  });
});
