import assert from "node:assert/strict";
import { after, test } from "node:test";
import { ask, assertProblem, deliver, event, logIn, tryLogin } from "../helpers/client.ts";
import { EMAIL } from "../helpers/credentials.ts";
import { startServer } from "../helpers/server.ts";
import { settled } from "../helpers/stored-events.ts";

const server = await startServer({ env: { TRUSTED_PROXIES: "127.0.0.1" } });
after(() => server[Symbol.asyncDispose]());

test("every outcome has a series from the start, so that its first occurrence is an increase", async () => {
  const { text } = await ask(server, "/metrics");
  const started = [...text.matchAll(/^authserve_(\w+_total)\{\w+="(\w+)"\} 0$/gm)].map(([, name, of]) => [name, of]);
  const outcomesOf = (name: string) => started.filter(([of]) => of === name).map(([, outcome]) => outcome);
  assert.deepEqual(outcomesOf("deliveries_total"), ["new", "duplicate", "conflict", "repeat"]);
  assert.deepEqual(outcomesOf("attempts_total"), ["processed", "retried", "dead_lettered", "lease_lost"]);
  assert.deepEqual(outcomesOf("deliveries_refused_total").sort(), [
    "address_not_allowed",
    "bad_request",
    "intake_paused",
    "internal_error",
    "invalid_payload",
    "payload_too_large",
    "queue_full",
    "request_timeout",
    "signature_mismatch",
    "store_unavailable",
    "too_many_deliveries",
    "unsupported_media_type",
  ]);
  assert.deepEqual(outcomesOf("logins_total").sort(), [
    "internal_error",
    "invalid_code",
    "invalid_credentials",
    "invalid_passkey",
    "login_busy",
    "second_factor_required",
    "store_unavailable",
    "succeeded",
    "too_many_attempts",
  ]);
});

test("metrics count deliveries, commits, attempts, logins and hashes, without personal data", async () => {
  await deliver(server, event("one"));
  await deliver(server, event("one"));
  await deliver(server, event("one", { amount: 2 }));
  await settled(server, "one");
  await logIn(server);
  await tryLogin(server, { password: "wrong password" });
  await deliver(server, event("two"), { "X-Signature": "0".repeat(64) });

  const answer = await ask(server, "/metrics");
  assert.equal(answer.status, 200);
  assert.match(answer.headers.get("content-type") ?? "", /^text\/plain; version=0\.0\.4/);
  for (const line of [
    'authserve_deliveries_total{result="new"} 1',
    'authserve_deliveries_total{result="duplicate"} 1',
    'authserve_deliveries_total{result="conflict"} 1',
    "authserve_intake_commit_seconds_count 3",
    "authserve_intake_batch_events_sum 3",
    "authserve_intake_queue_limit 10000",
    'authserve_intake_paused{reason="disk_low"} 0',
    'authserve_intake_paused{reason="queue_old"} 0',
    'authserve_attempts_total{outcome="processed"} 1',
    'authserve_deliveries_refused_total{code="signature_mismatch"} 1',
    "authserve_attempt_seconds_count 1",
    "authserve_processing_seconds_count 1",
    "authserve_events_queued 0",
    "authserve_events_dead_lettered 0",
    'authserve_logins_total{outcome="succeeded"} 1',
    'authserve_logins_total{outcome="invalid_credentials"} 1',
    "authserve_password_hashes_total 2",
  ]) {
    assert.ok(answer.text.split("\n").includes(line), `${line} is not in\n${answer.text}`);
  }
  assert.ok(!answer.text.includes(EMAIL));
});

test("a client that is not allowed gets no metrics", async () => {
  assertProblem(await ask(server, "/metrics", { headers: { "X-Forwarded-For": "203.0.113.9" } }), 404, "not_found");
});

test("a request through an untrusted proxy gets no metrics", async () => {
  for (const env of [{}, { TRUSTED_PROXIES: "192.0.2.1" }]) {
    await using unaware = await startServer({ env });
    assert.equal((await ask(unaware, "/metrics")).status, 200);
    for (const [name, value] of Object.entries({
      "X-Forwarded-For": "127.0.0.1",
      Forwarded: "for=127.0.0.1",
      "X-Real-IP": "127.0.0.1",
      Via: "1.1 proxy",
      "X-Forwarded-Proto": "https",
      "X-Forwarded-Host": "example.com",
      "CF-Connecting-IP": "127.0.0.1",
      "True-Client-IP": "127.0.0.1",
      "X-Client-IP": "127.0.0.1",
    })) {
      assertProblem(await ask(unaware, "/metrics", { headers: { [name]: value } }), 404, "not_found");
    }
  }
});

test("a request through a trusted proxy that does not name its client gets no metrics", async () => {
  assert.equal((await ask(server, "/metrics")).status, 200);
  assertProblem(await ask(server, "/metrics", { headers: { "X-Real-IP": "127.0.0.1" } }), 404, "not_found");
  const headers = { "X-Forwarded-For": "127.0.0.1", "X-Forwarded-Proto": "https" };
  assert.equal((await ask(server, "/metrics", { headers })).status, 200);
});
