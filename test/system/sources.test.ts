import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { type Answer, ask, assertProblem, deliver, event } from "../helpers/client.ts";
import { startServer } from "../helpers/server.ts";
import { startTarget } from "../helpers/target.ts";
import { until } from "../helpers/until.ts";
import { workingDir } from "../helpers/working-dir.ts";

const SECRET = "a secret of the tests";
const OLD_SECRET = "an older secret of the tests";

const CONFIG = `
sources:
  stripe: { preset: stripe, secrets: [env:STRIPE_SECRET] }
  github: { preset: github, path: /hooks/github, secrets: [env:SECRET, env:OLD_SECRET] }
  bytes:
    verify: { header: x-sig }
    secrets: [env:SECRET]
    contentTypes: ["*/*"]
    bodyLimit: 2m
  forms:
    verify: { header: x-sig }
    secrets: [env:SECRET]
    contentTypes: [application/x-www-form-urlencoded, text/plain]
    id: body:order.id
    type: header:x-topic
  named:
    verify: { header: x-sig }
    secrets: [env:SECRET]
    id: header:x-id
    dedupe: id
  bounded: { verify: { header: x-sig }, secrets: [env:SECRET], rate: 2/h }
  far: { verify: { header: x-sig }, secrets: [env:SECRET], allowedAddresses: [192.0.2.0/24] }
  watched: { verify: { header: x-sig }, secrets: [env:SECRET], allowedAddresses: [192.0.2.0/24], addressMode: watch }
  late:
    verify: { header: x-sig, signed: "{timestamp}.{body}", timestamp: { header: x-time }, tolerance: 1h }
    secrets: [env:SECRET]
  token: { verify: { type: token, header: authorization, prefix: "Bearer " }, secrets: [env:SECRET] }
  plain: { verify: { type: token, header: x-code }, secrets: [env:SECRET] }
  address: { verify: { header: x-sig, signed: "{method} {url} {body}" }, secrets: [env:SECRET] }
`;

const startedAt = Date.now();
const dir = workingDir();
const file = join(dir, "authserve.yaml");
writeFileSync(file, CONFIG);
const target = await startTarget();
const server = await startServer({
  dir,
  env: {
    FORWARD_URL: target.url,
    SECRET,
    OLD_SECRET,
    STRIPE_SECRET: "whsec_a_secret_of_stripe",
    TRUSTED_PROXIES: "127.0.0.2",
  },
});
after(() => server[Symbol.asyncDispose]());
after(() => target[Symbol.asyncDispose]());

const sign = (content: string | Buffer, secret = SECRET) => createHmac("sha256", secret).update(content).digest("hex");

/** Delivers to a source whose signature of the body is in `X-Sig`. */
function to(path: string, body: string | Buffer, headers: Record<string, string> = {}): Promise<Answer> {
  const all = { "Content-Type": "application/json", "X-Sig": sign(body), ...headers };
  return ask(server, path, { method: "POST", body, headers: all });
}

async function eventOf(answer: Answer): Promise<Record<string, unknown>> {
  assert.equal(answer.status, 200, answer.text);
  const { stdout } = await server.run(["events", "show", String(answer.json.eventId), "--json"]);
  return JSON.parse(stdout) as Record<string, unknown>;
}

/** What the target got of a source. */
const forwarded = (source: string) => target.received.filter(({ headers }) => headers["x-event-source"] === source);

test("the sources of the file and of the environment are served side by side", async () => {
  assert.equal((await deliver(server, event("same"))).status, 200);
  const other = await to("/webhook/bytes", JSON.stringify(event("same")));
  assert.deepEqual(other.json, { received: true, duplicate: false, eventId: "same" });
  assert.equal((await to("/webhook/github", "{}")).status, 404);
});

test("a source has its own secrets, and the event tells which one matched", async () => {
  const body = '{"zen":"Keep it."}';
  const headers = (secret: string, id: string) => ({
    "X-Hub-Signature-256": `sha256=${sign(body, secret)}`,
    "X-GitHub-Event": "ping",
    "X-GitHub-Delivery": id,
  });
  const shown = await eventOf(await to("/hooks/github", body, headers(OLD_SECRET, "g1")));
  assert.deepEqual([shown.source, shown.eventId, shown.type, shown.secret], ["github", "g1", "ping", "env:OLD_SECRET"]);
  assertProblem(await to("/hooks/github", body, headers("another", "g2")), 403, "signature_mismatch");
  assertProblem(await to("/webhook/bytes", body, { "X-Sig": sign(body, OLD_SECRET) }), 403, "signature_mismatch");
});

suite("a source that takes every media type keeps the bytes as they came", () => {
  for (const [what, body, type] of [
    ["a byte order mark", Buffer.from("\ufeff{}"), "application/json"],
    ["bytes that are no UTF-8", Buffer.from([0xff, 0x00, 0xfe]), "application/octet-stream"],
    ["nothing", Buffer.alloc(0), "text/plain"],
    ["the largest size", Buffer.alloc(2 * 1024 * 1024, "x"), "text/csv"],
    ["JSON that is none", Buffer.from("{"), "application/json"],
  ] as const) {
    test(what, async () => {
      const answer = await to("/webhook/bytes", body, { "Content-Type": type });
      assert.equal(answer.status, 200, answer.text);
      const id = String(answer.json.eventId);
      await until(() => target.of(id).length > 0);
      const [request] = target.of(id);
      assert.ok(request?.body.equals(body));
      assert.equal(request?.headers["content-type"], type);
    });
  }

  test("and not one byte more", async () => {
    assertProblem(await to("/webhook/bytes", Buffer.alloc(2 * 1024 * 1024 + 1, "x")), 413, "payload_too_large");
  });
});

test("a source takes only its media types, and says which", async () => {
  const refused = await to("/webhook/forms", "{}");
  assertProblem(refused, 415, "unsupported_media_type");
  assert.equal(refused.headers.get("accept-post"), "application/x-www-form-urlencoded, text/plain");
});

test("a form keeps repeated keys, and its fields give the id", async () => {
  const body = "order.id=a%20b&order.id=second&item=1&item=1";
  const headers = { "Content-Type": "application/x-www-form-urlencoded", "X-Topic": "paid" };
  const answer = await to("/webhook/forms", body, headers);
  assert.deepEqual(answer.json, { received: true, duplicate: false, eventId: "a b" });
  await until(() => forwarded("forms").length > 0);
  assert.equal(forwarded("forms")[0]?.body.toString(), body);
  assert.equal(forwarded("forms")[0]?.headers["x-event-type"], "paid");
});

test("an unsigned id makes a duplicate only for a source that trusts it", async () => {
  for (const [index, body] of ['{"n":1}', '{"n":2}', '{"n":1}'].entries()) {
    const answer = await to("/webhook/named", body, { "X-Id": index === 2 ? "other" : "one" });
    assert.deepEqual(answer.json, { received: true, duplicate: index === 1, eventId: index === 2 ? "other" : "one" });
  }
});

test("an address outside of the allowed ones is refused, or with watch only logged", async () => {
  assertProblem(await to("/webhook/far", "{}"), 403, "address_not_allowed");
  assert.equal((await to("/webhook/watched", "{}")).status, 200);
  assert.equal((await server.logged("delivery_from_other_address")).source, "watched");
});

test("a source has its own tolerance, either way", async () => {
  const at = (offset: number) => {
    const time = String(Math.floor(Date.now() / 1000) + offset);
    return to("/webhook/late", "{}", { "X-Time": time, "X-Sig": sign(`${time}.{}`) });
  };
  for (const offset of [-3500, 3500]) assert.equal((await at(offset)).status, 200);
  for (const offset of [-3700, 3700]) assertProblem(await at(offset), 403, "signature_mismatch");
});

test("a token is compared before the body is read", async () => {
  const headers = { Authorization: `Bearer ${SECRET}` };
  assert.equal((await to("/webhook/token", "{}", headers)).status, 200);
  const wrong = await to("/webhook/token", Buffer.alloc(2 * 1024 * 1024), { Authorization: "Bearer other" });
  assertProblem(wrong, 403, "signature_mismatch");
});

test("a token is not stored, whatever its header is called", async () => {
  const shown = await eventOf(await to("/webhook/plain", '{"n":"plain"}', { "X-Code": SECRET, "X-Other": "kept" }));
  assert.equal((shown.headers as Record<string, string>)["x-other"], "kept");
  assert.equal(JSON.stringify(shown).includes(SECRET), false);
});

test("a signed address is the one that the sender wrote", async () => {
  const signed = (url: string) => sign(`POST ${url} {}`);
  const url = `${server.url}/webhook/address?a=%20b`;
  assert.equal((await to("/webhook/address?a=%20b", "{}", { "X-Sig": signed(url) })).status, 200);
  // This peer is no trusted proxy.
  const forwarded = { "X-Forwarded-Proto": "https", "X-Forwarded-Host": "hooks.example.com" };
  const claimed = signed("https://hooks.example.com/webhook/address");
  assert.equal((await to("/webhook/address", "{}", { ...forwarded, "X-Sig": claimed })).status, 403);
});

test("sources list counts what each source received and refused, and names its last secret", async () => {
  const list = async () => {
    const { stdout } = await server.run(["sources", "list", "--json"]);
    return new Map((JSON.parse(stdout) as { name: string }[]).map((source) => [source.name, source]));
  };
  // Counts are written a moment after the answer.
  await until(async () => (JSON.stringify((await list()).get("github")) ?? "").includes('"received":1'));
  const sources = await list();
  assert.deepEqual([...sources.keys()].slice(0, 3), ["default", "stripe", "github"]);
  const { lastReceivedAt, ...github } = sources.get("github") as unknown as Record<string, unknown>;
  const receivedAt = Date.parse(String(lastReceivedAt));
  assert.ok(receivedAt >= startedAt && receivedAt <= Date.now());
  assert.deepEqual(github, {
    name: "github",
    path: "/hooks/github",
    preset: "github",
    secrets: ["env:SECRET", "env:OLD_SECRET"],
    received: 1,
    refused: 1,
    refusals: { signature_mismatch: 1 },
    lastSecret: "env:OLD_SECRET",
  });
});

test("send signs as the provider, with a sample", async () => {
  const { stdout, stderr, code } = await server.run(["send", "--source", "stripe", "--id", "evt_sent", "--json"]);
  assert.equal(code, 0, stderr);
  const { status, answer, sent, accepted } = JSON.parse(stdout);
  assert.deepEqual([status, sent, accepted], [200, 1, 1]);
  assert.deepEqual(JSON.parse(answer), { received: true, duplicate: false, eventId: "evt_sent" });
  for (const source of ["github", "bytes", "forms", "token", "late", "address"]) {
    const several = await server.run(["send", "--source", source, "--count", "5", "--json"]);
    assert.deepEqual(JSON.parse(several.stdout).statuses, { 200: 5 }, source);
  }
});

test("deliveries above the rate of a source get 429 with Retry-After, and only genuine ones count", async () => {
  for (let n = 0; n < 5; n++)
    assertProblem(await to("/webhook/bounded", "{}", { "X-Sig": sign("other") }), 403, "signature_mismatch");
  for (const n of [1, 2]) assert.equal((await to("/webhook/bounded", `{"n":"bounded ${n}"}`)).status, 200);
  const answer = await to("/webhook/bounded", '{"n":"bounded 3"}');
  assertProblem(answer, 429, "too_many_deliveries");
  const retryAfter = Number(answer.headers.get("retry-after"));
  assert.ok(retryAfter > 1000 && retryAfter <= 1800, String(retryAfter));
  assert.equal((await to("/webhook/bytes", '{"n":"unbounded"}')).status, 200);
  await until(async () => (await ask(server, "/metrics")).text.includes('refused_total{code="too_many_deliveries"} 1'));
});

suite("a changed file", () => {
  const reloads = () => server.log("config_reloaded").length;
  /** Replaces the file at once: the server must not read a part of it. */
  function write(text: string): void {
    writeFileSync(`${file}.new`, text);
    renameSync(`${file}.new`, file);
  }
  const gauge = async () =>
    /^authserve_config_last_reload_successful (\d)$/m.exec((await ask(server, "/metrics")).text)?.[1];

  test("is used within seconds, as a whole", async () => {
    write(CONFIG.replace("  far:", "  near:"));
    await until(() => reloads() === 1);
    assertProblem(await to("/webhook/near", "{}"), 403, "address_not_allowed");
    assert.equal((await to("/webhook/far", "{}")).status, 404);
  });

  test("with an error changes nothing, and log, metric and doctor say so", async () => {
    write(CONFIG.replace("preset: stripe", "preset: strip"));
    const { errors } = await server.logged("config_reload_failed");
    assert.match(String(errors), /authserve\.yaml:3:21 sources\.stripe\.preset/);
    assert.equal((await to("/webhook/bytes", '{"n":"bad"}')).status, 200);
    assert.equal(await gauge(), "0");
    const doctor = await server.run(["doctor", "--json"]);
    assert.match(doctor.stdout, /sources\.stripe\.preset/);
    assert.match(doctor.stdout, /the running server uses/);
  });

  test("that is mended is used again", async () => {
    write(CONFIG);
    await until(() => reloads() === 2);
    assert.equal(await gauge(), "1");
  });

  test("is read at SIGHUP, with the secrets in its files", async () => {
    writeFileSync(join(dir, "secret"), "the first secret in a file");
    write(`${CONFIG}  last: { verify: { header: x-sig }, secrets: [file:secret] }\n`);
    await until(() => reloads() === 3);
    writeFileSync(join(dir, "secret"), "another secret in a file");
    server.signal("SIGHUP");
    await until(() => reloads() === 4);
    const body = '{"n":"hup"}';
    const answer = await to("/webhook/last", body, { "X-Sig": sign(body, "another secret in a file") });
    assert.equal(answer.status, 200, answer.text);
  });

  test("that was removed changes nothing", async () => {
    rmSync(file);
    await until(() => server.log("config_reload_failed").length === 2);
    assert.equal((await to("/webhook/bytes", '{"n":"gone"}')).status, 200);
  });
});
