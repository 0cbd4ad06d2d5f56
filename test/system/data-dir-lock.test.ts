import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { lockDataDir } from "../../src/sqlite/data-dir.ts";
import { tempDir } from "../helpers/temp-dir.ts";

test("the lock on a data directory is refused while another process holds it, and free once that process is killed", async (t) => {
  const dataDir = tempDir(t);
  const module = new URL("../../src/sqlite/data-dir.ts", import.meta.url).href;
  const script = `
    import { lockDataDir } from ${JSON.stringify(module)};
    const release = lockDataDir(process.argv[1]);
    console.log("locked");
    // Without a reference the lock would be garbage-collected.
    setInterval(() => release.name, 1000);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script, dataDir], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(() => void child.kill("SIGKILL"));
  await once(child.stdout, "data");
  assert.throws(() => lockDataDir(dataDir), /Another authserve uses this DATA_DIR/);
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
  lockDataDir(dataDir)();
});

test("the lock file is closed to other users, who could lock it themselves", (t) => {
  const dataDir = tempDir(t);
  const file = join(dataDir, "serve.lock");
  const mode = () => statSync(file).mode & 0o777;
  lockDataDir(dataDir)();
  assert.equal(mode(), 0o600);
  // As earlier versions left it.
  chmodSync(file, 0o644);
  lockDataDir(dataDir)();
  assert.equal(mode(), 0o600);
});
