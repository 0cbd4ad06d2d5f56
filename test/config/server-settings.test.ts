import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { readServerSettings } from "../../src/config/server-settings.ts";
import { SettingsError } from "../../src/errors.ts";
import { pairNamed } from "../helpers/tls.ts";
import { workingDir } from "../helpers/working-dir.ts";
import { REQUIRED } from "./environment.ts";

const urlWith = (file: string) =>
  `postgres://app:secret@db.internal/store?sslmode=verify-full&sslrootcert=${encodeURIComponent(file)}`;

test("REDIS_URL is refused unless another setting says where Redis is", async () => {
  const REDIS_URL = "redis://:secret@redis.internal:6380/2";
  const [fault, ...others] = await faultsIn({ REDIS_URL });
  assert.match(String(fault), /^REDIS_URL is not a setting/);
  assert.deepEqual([others, await faultsIn({ REDIS_URL, REDIS_HOST: "redis.internal" })], [[], []]);
});

/** What is wrong with these settings of a server. */
async function faultsIn(settings: Record<string, string>): Promise<string[]> {
  try {
    await readServerSettings({ ...REQUIRED, ...settings });
    return [];
  } catch (error) {
    assert.ok(error instanceof SettingsError, String(error));
    return error.faults.map(({ found }) => found);
  }
}

suite("the sslrootcert of DATABASE_URL", () => {
  test("is a PEM file with a certificate", async () =>
    assert.deepEqual(await faultsIn({ DATABASE_URL: urlWith(pairNamed("first").cert) }), []));

  test("that is missing is reported with the faults of other settings", async () =>
    assert.deepEqual(await faultsIn({ DATABASE_URL: urlWith("/nope.pem"), PORT: "x" }), [
      "DATABASE_URL's sslrootcert cannot be read (ENOENT)",
      "PORT is not usable",
    ]));

  test("that is a directory or holds no certificate is refused", async () => {
    const dir = workingDir();
    const empty = join(dir, "empty.pem");
    writeFileSync(empty, "");
    assert.deepEqual(await faultsIn({ DATABASE_URL: urlWith(dir) }), [
      "DATABASE_URL's sslrootcert cannot be read (EISDIR)",
    ]);
    for (const file of [empty, pairNamed("first").key]) {
      assert.deepEqual(await faultsIn({ DATABASE_URL: urlWith(file) }), [
        "DATABASE_URL's sslrootcert holds no certificate",
      ]);
    }
  });

  test("is not looked for in a malformed URL", async () => {
    assert.equal((await faultsIn({ DATABASE_URL: "postgres://app:secret@/%?sslrootcert=/nope.pem" })).length, 1);
  });
});
