import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { readEncryptionKeys } from "../../src/config/encryption-keys.ts";
import { remedyAt, settingsPlace } from "../../src/config/service.ts";
import { workingDir } from "../helpers/working-dir.ts";

const REMEDIES = { folder: "edit .env", service: "edit authserve.conf" };

test("on a machine with the service, a command without .env and DATA_DIR is told to use service-authserve", () => {
  const conf = join(workingDir(), "authserve.conf");
  const place = (environment: Record<string, string> = {}) => settingsPlace(environment, conf);
  assert.equal(place(), "folder");
  writeFileSync(conf, "");
  assert.equal(place(), "beside");
  assert.match(remedyAt(REMEDIES, place()), /with service-authserve/);
  assert.equal(remedyAt(REMEDIES, place({ DATA_DIR: "/srv/own" })), "edit .env");
});

test("the unit and service-authserve name the files of the service in remedies", () => {
  const place = settingsPlace({ CACHE_DIRECTORY: "/var/cache/authserve", DATA_DIR: "/var/lib/authserve" });
  assert.equal(remedyAt(REMEDIES, place), "edit authserve.conf");
});

test("a path that looks like a key is a path, and a key is never shown", () => {
  const key = randomBytes(32);
  const before = process.cwd();
  process.chdir(workingDir());
  try {
    mkdirSync("keys");
    const file = `keys/${"k".repeat(38)}`;
    writeFileSync(file, key.toString("base64"));
    assert.deepEqual(readEncryptionKeys([file]), [key]);
  } finally {
    process.chdir(before);
  }
  assert.throws(() => readEncryptionKeys([`/etc/${"k".repeat(38)}`]), /\/etc\/k+ cannot be read \(ENOENT\)/);
  for (const pasted of [`/${"a".repeat(42)}`, `${"b".repeat(20)}/${"c".repeat(22)}=`])
    assert.throws(() => readEncryptionKeys([pasted]), /ENCRYPTION_KEYS has a key itself/);
});
