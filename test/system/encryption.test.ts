import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { ask } from "../helpers/client.ts";
import { EXECUTABLE, startProgram } from "../helpers/command.ts";
import { type Server, startServer } from "../helpers/server.ts";
import { signature } from "../helpers/sign.ts";
import { until } from "../helpers/until.ts";
import { workingDir } from "../helpers/working-dir.ts";

function keyIn(dir: string, name: string): string {
  const file = join(dir, name);
  writeFileSync(file, randomBytes(32).toString("base64"), { mode: 0o600 });
  return file;
}

/** Sends a delivery. Returns whether it was acknowledged. */
async function deliver(server: Server, eventId: string): Promise<boolean> {
  const body = JSON.stringify({ id: eventId, type: "paid", text: `text of ${eventId}` });
  const headers = { "Content-Type": "application/json", "X-Signature": signature(body) };
  const { status } = await ask(server, "/webhook", { method: "POST", body, headers }).catch(() => ({ status: 0 }));
  return status === 200;
}

suite("a server with encryption", () => {
  test("is not given rows of a key that it has not, as by a command with other settings", async (t) => {
    const dir = workingDir();
    const [own, other] = [keyIn(dir, "own.key"), keyIn(dir, "other.key")];
    const server = await startServer({ dir, env: { ENCRYPTION_KEYS: own } });
    t.after(() => server[Symbol.asyncDispose]());
    assert.ok(await deliver(server, "evt_1"));
    const keys = { ENCRYPTION_KEYS: `${other},${own}` };
    const refused = await server.run(["encrypt"], keys);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /was not started with the first key of ENCRYPTION_KEYS/);
    assert.match((await server.run(["events", "show", "evt_1"])).stdout, /text of evt_1/);
    await server.stop();
    const { code, stderr } = await server.run(["encrypt"], keys);
    assert.equal(code, 0, stderr);
  });

  test("loses no acknowledged event while the key is changed under load, with kills", async (t) => {
    const dir = workingDir();
    const [old, fresh] = [keyIn(dir, "old.key"), keyIn(dir, "new.key")];
    let server = await startServer({ dir, env: { ENCRYPTION_KEYS: old } });
    t.after(() => server[Symbol.asyncDispose]());
    const acknowledged: string[] = [];
    let isOver = false;
    async function send(sender: number): Promise<void> {
      for (let n = 0; !isOver; n++) {
        const eventId = `evt_${sender}_${n}`;
        if (await deliver(server, eventId)) acknowledged.push(eventId);
        else await delay(10);
      }
    }
    const senders = Promise.all([1, 2, 3, 4].map(send));
    const received = (more: number, from = acknowledged.length) => until(() => acknowledged.length >= from + more);
    const restart = async (keys: string) => {
      await server.kill();
      server = await startServer({ dir, env: { ENCRYPTION_KEYS: keys } });
    };
    await received(500);
    await restart(`${fresh},${old}`);
    await received(50);
    // Broken off, with and without the server.
    for (const isServerKilled of [false, true]) {
      const command = startProgram(EXECUTABLE, ["encrypt"], server);
      await delay(900);
      command.child.kill("SIGKILL");
      if (isServerKilled) await restart(`${fresh},${old}`);
      await command.exited;
      await received(50);
    }
    const encrypted = await server.run(["encrypt", "--json"]);
    assert.equal(encrypted.code, 0, encrypted.stderr);
    isOver = true;
    await senders;
    await server.stop();
    const cleaned = await server.run(["encrypt", "--json"]);
    assert.deepEqual([cleaned.code, JSON.parse(cleaned.stdout).missing], [0, {}], cleaned.stderr);
    server = await startServer({ dir, env: { ENCRYPTION_KEYS: fresh } });
    assert.deepEqual(server.log("encryption_key_missing"), []);
    for (const eventId of acknowledged.filter((_, index) => index % 50 === 0)) {
      const { stdout } = await server.run(["events", "show", eventId, "--json"]);
      assert.match(stdout, new RegExp(`text of ${eventId}`));
    }
    const { stdout } = await server.run(["events", "list", "--search", "text of evt_", "--limit", "1000", "--json"]);
    const found = new Set((JSON.parse(stdout) as { eventId: string }[]).map(({ eventId }) => eventId));
    assert.deepEqual(
      acknowledged.slice(-200).filter((eventId) => !found.has(eventId)),
      [],
    );
  });

  test("names a missing key at its start and in doctor, and takes deliveries with the present one", async (t) => {
    const dir = workingDir();
    const [old, fresh] = [keyIn(dir, "old.key"), keyIn(dir, "new.key")];
    const first = await startServer({ dir, env: { ENCRYPTION_KEYS: old } });
    t.after(() => first[Symbol.asyncDispose]());
    assert.ok(await deliver(first, "evt_old"));
    await first.stop();
    const server = await startServer({ dir, env: { ENCRYPTION_KEYS: fresh } });
    t.after(() => server[Symbol.asyncDispose]());
    const { keys } = await server.logged("encryption_key_missing");
    assert.match(String(keys), /^[0-9a-f]{16}$/);
    const alert = await server.logged("alert_firing");
    assert.deepEqual([alert.alert, alert.labels], ["AuthserveNotReady", { part: "encryption" }]);
    assert.match(alert.message, new RegExp(`encrypted with ${String(keys)}`));
    assert.ok(await deliver(server, "evt_new"));
    const shown = await server.run(["events", "show", "evt_old"]);
    assert.notEqual(shown.code, 0);
    assert.match(shown.stderr, /ENCRYPTION_KEYS/);
    const { stdout } = await server.run(["doctor", "--json"]);
    const findings = JSON.parse(stdout) as { check: string; verdict: string; found: string }[];
    const [finding] = findings.filter(({ check }) => check === "encryption");
    assert.equal(finding?.verdict, "wrong");
    assert.match(finding?.found ?? "", new RegExp(String(keys)));
    const missing = `encrypted with ${String(keys)}`;
    assert.match(
      (await server.run(["events", "list", "--search", "evt_old"])).stderr,
      new RegExp(`${missing} were not`),
    );
    const erase = (...which: string[]) => server.run(["events", "erase", ...which, "--reason", "request 12", "--json"]);
    const searched = JSON.parse((await erase("--search", "text of evt_old")).stdout);
    assert.deepEqual(searched.events, []);
    assert.match(searched.notCovered.at(-1), new RegExp(missing));
    // Who knows the id needs no key.
    assert.equal(JSON.parse((await erase("evt_old")).stdout).events[0]?.eventId, "evt_old");
  });
});
