import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { completeFolder } from "../../src/cli/init-system.ts";
import { workingDir } from "../helpers/working-dir.ts";

const ANSWERS = { email: async () => "o'brien@example.com", passwordHash: async () => "$argon2id$hash" };

const unasked = () => Promise.reject(new Error("was asked"));

const line = (dir: string, name: string) =>
  readFileSync(join(dir, "authserve.conf"), "utf8").match(new RegExp(`^${name}=.*$`, "m"))?.[0];

test("init --system writes secrets for root only, and a configuration file that the service can read", async () => {
  const dir = join(workingDir(), "etc/authserve");
  await completeFolder(dir, ANSWERS);
  const modes = readdirSync(dir).map((name) => [name, (statSync(join(dir, name)).mode & 0o777).toString(8)]);
  assert.deepEqual(Object.fromEntries(modes), {
    "authserve.conf": "600",
    "authserve.yaml": "644",
    demo_password: "600",
    jwt_secret: "600",
    webhook_secret: "600",
  });
  assert.equal(statSync(dir).mode & 0o777, 0o755);
  assert.ok(readFileSync(join(dir, "jwt_secret")).length >= 32);
  assert.equal(line(dir, "DEMO_EMAIL"), `DEMO_EMAIL="o'brien@example.com"`);
});

test("init --system keeps what is there, and asks for what is missing only", async () => {
  const dir = join(workingDir(), "authserve");
  await completeFolder(dir, ANSWERS);
  const before = readFileSync(join(dir, "jwt_secret"), "utf8");
  assert.deepEqual(await completeFolder(dir, { email: unasked, passwordHash: unasked }), []);
  writeFileSync(join(dir, "authserve.conf"), "FORWARD_URL=http://127.0.0.1:8080/events");
  assert.deepEqual(await completeFolder(dir, { ...ANSWERS, passwordHash: unasked }), ["authserve.conf"]);
  assert.match(readFileSync(join(dir, "authserve.conf"), "utf8"), /^FORWARD_URL=.*\/events\nDEMO_EMAIL=".*"\n$/);
  assert.equal(readFileSync(join(dir, "jwt_secret"), "utf8"), before);
});

test("init --system writes nothing if a question is not answered", async () => {
  const dir = workingDir();
  mkdirSync(join(dir, "authserve"));
  await assert.rejects(completeFolder(join(dir, "authserve"), { ...ANSWERS, passwordHash: unasked }));
  await assert.rejects(completeFolder(join(dir, "authserve"), { ...ANSWERS, email: async () => "no address" }));
  assert.deepEqual(readdirSync(join(dir, "authserve")), []);
});
