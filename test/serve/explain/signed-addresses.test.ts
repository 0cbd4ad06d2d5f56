import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { explainDelivery } from "../../../src/serve/explain/delivery.ts";
import { parseRawRequest, sentToOf } from "../../../src/webhook/held/raw-request.ts";
import published from "../../fixtures/published-vectors.json" with { type: "json" };
import { sourceIn } from "../../helpers/config-file.ts";
import { EXPLAIN_OPTIONS } from "../../helpers/explain-options.ts";
import type { Vector } from "../../helpers/providers.ts";
import { secretOf } from "../../helpers/secret.ts";

type Signed = Vector & { url: string; secret: string };

/** A delivery of the published ones: the one with this signature. */
function vectorWith(signature: string): Signed {
  const vectors = published as readonly Vector[];
  const vector = vectors.find(({ headers }) => Object.values(headers).some((value) => value.includes(signature)));
  assert.ok(vector?.url && vector.secret);
  return { ...vector, url: vector.url, secret: vector.secret };
}

/** Explains a published delivery to a source at its path. `url` is the address that `--url` names. */
function explain({ preset, secret, headers, method, body, at, ...vector }: Signed, target: string, url = vector.url) {
  const { pathname, origin } = new URL(vector.url);
  const methods = pathname === "/" ? "[POST, PUT]" : "[GET, POST, PUT]";
  const entry = `{ preset: ${preset}, secrets: [env:SECRET], path: ${pathname}, methods: ${methods} }`;
  const source = { ...sourceIn(entry), secrets: [secretOf(secret)], publicOrigin: origin };
  const type = method === "POST" ? ["Content-Type: application/x-www-form-urlencoded"] : [];
  const sent = ["Host: hooks.example.com", ...type, ...Object.entries(headers).map((header) => header.join(": "))];
  const head = `${method} ${target} HTTP/1.1\r\n${sent.join("\r\n")}\r\n\r\n`;
  const raw = parseRawRequest(Buffer.concat([Buffer.from(head), Buffer.from(body, "base64")]));
  assert.ok(typeof raw === "object");
  const sentTo = url === vector.url ? undefined : (sentToOf(raw, url) ?? undefined);
  return explainDelivery(source, raw, { ...EXPLAIN_OPTIONS, now: at ?? 0, sentTo });
}

const targetOf = ({ url }: Signed) => url.slice(new URL(url).origin.length);

suite("a delivery by GET", () => {
  for (const [what, signature, type] of [
    ["of Twilio signs its address", "zYQTYrRWXE7LtzbG4PfP7/bkkGo=", "unknown"],
    ["of Plivo signs its sorted query", "i/MQsaQSAd6fiKhOh2qeeeLHZ9faldADSb3/7+Akfbc=", "in-progress"],
    ["of MessageBird signs its address", "huo2ou6JDoDc7sV25d75UMWeYhBeavQlLsqIibSZuac", "unknown"],
  ] as const) {
    test(what, async () => {
      const vector = vectorWith(signature);
      const explained = await explain(vector, targetOf(vector));
      assert.deepEqual([explained.answer.status, explained.type], [200, type], JSON.stringify(explained.checks));
      const other = await explain(vector, `${targetOf(vector)}&Digits=1`);
      assert.equal(other.answer.status, 403);
    });
  }

  // A body beside a query is not read, so that nothing can be said of its digest.
  test("of MessageBird with the digest of a body is refused", async () => {
    const vector = { ...vectorWith("_H--TOuYFLpeEH39-rg5E3IHVkjHozBcaKVWPRC5m9I"), method: "GET" };
    const explained = await explain(vector, targetOf(vector));
    assert.deepEqual([explained.answer.status, explained.reason], [403, "signature_mismatch"]);
  });
});

test("a signed address may end with a slash, or be one", async () => {
  for (const signature of [
    "k7Pusd4OxCIjR5IfA9iedDNu/h/gbdYqdzG/MiYtd1c=",
    "6Fp0rVOsRr1fj9S2GidXAfkmPVofKr8_RTffC6G6r2E",
  ]) {
    const vector = vectorWith(signature);
    const explained = await explain(vector, targetOf(vector));
    assert.equal(explained.answer.status, 200, JSON.stringify(explained.checks));
  }
});

test("a query that something has brought into another order is named", async () => {
  const vector = vectorWith("zYQTYrRWXE7LtzbG4PfP7/bkkGo=");
  const { checks } = await explain(vector, "/myapp.php?bar=2&foo=1");
  const { detail } = checks.find(({ name }) => name === "signature") ?? {};
  assert.match(
    detail ?? "",
    /; it is right for the query in another order: \/myapp\.php\?foo=1&bar=2: let everything /,
  );
});

test("an address with a user is that of a request with this user, and only then", async () => {
  for (const [user, signature] of [
    ["user:pass", "CukzLTc1tT5dXEDIHm/tKBanW10="],
    ["user", "2YRLlVAflCqxaNicjMpJcSTgzSs="],
    ["user:pass", "ZQFR1PTIZXF2MXB8ZnKCvnnA+rI="],
  ] as const) {
    const vector = vectorWith(signature);
    const { authorization: _, ...headers } = vector.headers;
    const without = { ...vector, headers };
    assert.equal((await explain(vector, targetOf(vector))).answer.status, 200);
    assert.equal((await explain(without, targetOf(vector))).answer.status, 403);
    const url = vector.url.replace("://", `://${user}@`);
    assert.equal((await explain(without, targetOf(vector), url)).answer.status, 200);
  }
});
