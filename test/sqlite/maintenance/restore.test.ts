import assert from "node:assert/strict";
import fs, { mkdirSync, readdirSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { mock, test } from "node:test";
import { addFactor, totpFactor } from "../../../src/auth/factors/manage.ts";
import { factorsOf } from "../../../src/auth/factors/store.ts";
import { OperatorError } from "../../../src/errors.ts";
import { openDatabase } from "../../../src/sqlite/database.ts";
import { backUp } from "../../../src/sqlite/maintenance/backup.ts";
import { restore } from "../../../src/sqlite/maintenance/restore.ts";
import { localStores } from "../../../src/sqlite/stores.ts";
import { auditEntry } from "../../contract/audit-store.ts";
import { clientTokenOf, codeOf } from "../../contract/client-store.ts";
import { type Cleanup, tempDir } from "../../helpers/temp-dir.ts";

const NOW = auditEntry(0, { at: Date.parse("2026-01-31T12:00:00.123Z"), action: "store.restore" });
const KEPT = "authserve.db.replaced-2026-01-31T12-00-00-123Z";

/** Makes a file system function fail while `run` runs. */
function whileFailing(name: "linkSync" | "renameSync", code: string, run: () => void): void {
  const failing = mock.method(fs, name, () => {
    throw Object.assign(new Error(`${code}: not here`), { code });
  });
  syncBuiltinESMExports();
  try {
    run();
  } finally {
    failing.mock.restore();
    syncBuiltinESMExports();
  }
}

/** Asserts that a restore during such a failure fails with a message that names it and ends with this outcome. */
function assertBreaksOff(
  { dataDir, backup }: { dataDir: string; backup: string },
  name: "linkSync" | "renameSync",
  code: string,
  end: string,
): void {
  whileFailing(name, code, () => {
    assert.throws(
      () => restore(backup, dataDir, NOW),
      (error) => {
        assert.ok(error instanceof OperatorError);
        assert.equal(error.exitCode, 1);
        assert.match(error.message, new RegExp(`failed \\(${code}: not here\\): .*; `));
        assert.ok(error.message.endsWith(end), error.message);
        return true;
      },
    );
  });
}

function noteOf(dataDir: string): unknown {
  const database = openDatabase(dataDir);
  try {
    return database.prepare("SELECT value FROM metadata WHERE key = 'note'").pluck().get();
  } finally {
    database.close();
  }
}

/** A data directory whose database contains `new`, and a backup that contains `old`. */
async function withBackup(context: Cleanup): Promise<{ dataDir: string; backup: string }> {
  const dir = tempDir(context);
  const dataDir = join(dir, "data");
  const backup = join(dir, "backup.db");
  const database = openDatabase(dataDir);
  database.exec("INSERT INTO metadata (key, value) VALUES ('note', 'old')");
  await backUp(database, backup, { mayReplace: false, onProgress: () => {} });
  database.exec("UPDATE metadata SET value = 'new' WHERE key = 'note'");
  database.close();
  return { dataDir, backup };
}

test("without hard links, the replaced database is kept as a copy", async (t) => {
  for (const code of ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"]) {
    const { dataDir, backup } = await withBackup(t);
    whileFailing("linkSync", code, () => {
      assert.deepEqual(restore(backup, dataDir, NOW), { kept: join(dataDir, KEPT), factors: 0 });
    });
    assert.equal(noteOf(dataDir), "old");
    restore(join(dataDir, KEPT), dataDir, auditEntry(0));
    assert.equal(noteOf(dataDir), "new");
  }
});

test("recovery codes end, since some may have been used after the backup, and second factors stay", async (t) => {
  const dir = tempDir(t);
  const dataDir = join(dir, "data");
  const backup = join(dir, "backup.db");
  const database = openDatabase(dataDir);
  const factors = factorsOf(localStores(database).factors, "");
  const factor = totpFactor("A".repeat(32), "phone", 1);
  await addFactor(factors, factor);
  await backUp(database, backup, { mayReplace: false, onProgress: () => {} });
  await factors.remove([factor.id]);
  database.close();
  assert.equal(restore(backup, dataDir, NOW).factors, 1);
  const restored = openDatabase(dataDir);
  t.after(() => restored.close());
  const store = factorsOf(localStores(restored).factors, "");
  assert.equal(await store.recoveryCodesLeft(), 0);
  assert.deepEqual(
    (await store.list()).map(({ id }) => id),
    [factor.id],
  );
});

test("what apps were granted ends, and those that took part in sessions are still told of their end", async (t) => {
  const dir = tempDir(t);
  const dataDir = join(dir, "data");
  const backup = join(dir, "backup.db");
  const database = openDatabase(dataDir);
  const { clients } = localStores(database);
  await clients.addCode(codeOf("a"));
  await clients.useCode(codeOf("a").digest);
  const token = clientTokenOf("a", { kind: "refresh" });
  assert.equal(await clients.addTokens([token]), true);
  await clients.setConsent(token.userId, token.client, token.scope, 1);
  await backUp(database, backup, { mayReplace: false, onProgress: () => {} });
  database.close();
  restore(backup, dataDir, NOW);
  const restored = openDatabase(dataDir);
  t.after(() => restored.close());
  const { clients: store } = localStores(restored);
  assert.equal(await store.findToken(token.digest), null);
  assert.equal(await store.useCode(codeOf("a").digest), null);
  assert.equal(await store.consent(token.userId, token.client), null);
  assert.equal((await store.participations()).length, 1);
});

test("a database that cannot be kept is not replaced, and the folder is unchanged", async (t) => {
  const { dataDir, backup } = await withBackup(t);
  const before = readdirSync(dataDir);
  assertBreaksOff({ dataDir, backup }, "linkSync", "EIO", "; nothing was changed");
  assert.deepEqual(readdirSync(dataDir), before);
  assert.equal(noteOf(dataDir), "new");
});

test("a restore that fails later leaves the old database, and nothing beside it", async (t) => {
  const { dataDir, backup } = await withBackup(t);
  const before = readdirSync(dataDir);
  assertBreaksOff({ dataDir, backup }, "renameSync", "EACCES", "; nothing was changed");
  assert.deepEqual(readdirSync(dataDir), before);
  assert.equal(noteOf(dataDir), "new");
});

test("a restore into an empty folder that fails leaves it empty", async (t) => {
  const { dataDir, backup } = await withBackup(t);
  const empty = join(dataDir, "empty");
  mkdirSync(empty);
  whileFailing("renameSync", "EACCES", () => {
    assert.throws(() => restore(backup, empty, NOW), /; nothing was changed$/);
  });
  assert.deepEqual(readdirSync(empty), []);
});
