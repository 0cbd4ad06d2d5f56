import assert from "node:assert/strict";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { readConfigFile } from "../../../src/config/file/config-file.ts";
import { watchConfigFile } from "../../../src/config/file/reload.ts";
import { recordingLog } from "../../helpers/log.ts";
import { tempDir } from "../../helpers/temp-dir.ts";
import { until } from "../../helpers/until.ts";

const PLAIN = "routes:\n  - { name: a, log: {} }\n";
const WITH_MODULE = "routes:\n  - { name: a, module: { file: a.mjs } }\n  - { name: b, log: {} }\n";

function watched(t: TestContext, yaml: string) {
  const folder = tempDir(t);
  const file = join(folder, "authserve.yaml");
  const module = join(folder, "a.mjs");
  writeFileSync(file, yaml);
  writeFileSync(module, "export default async () => {};\n");
  const { log, named } = recordingLog();
  // As without CONFIG_FILE, no file is no fault by itself.
  const read = () => (existsSync(file) ? readConfigFile({ CONFIG_FILE: file }) : null);
  const config = watchConfigFile(file, read, log);
  const reloads: (number | null)[] = [];
  t.after(config.watch((next, fault) => reloads.push(fault === null ? (next?.routes?.length ?? 0) : null)));
  return { config, file, module, reloads, named, reload: config.reload };
}

test("a changed module reloads the file once", async (t) => {
  const { module, reloads, named } = watched(t, WITH_MODULE);
  writeFileSync(module, "export default async () => 'changed';\n");
  await until(() => reloads.length > 0);
  await new Promise((resolve) => setTimeout(resolve, 1500));
  assert.deepEqual(reloads, [2]);
  const [line] = named("config_reloaded");
  assert.deepEqual([line?.sources, line?.routes], [0, 2]);
});

test("a module that the changed file names is watched, and no longer when the file does not name it", async (t) => {
  const { file, module, reloads, reload } = watched(t, PLAIN);
  writeFileSync(file, WITH_MODULE);
  await until(() => reloads.length === 1);
  writeFileSync(module, "export default async () => 'changed';\n");
  await until(() => reloads.length === 2);
  writeFileSync(file, PLAIN);
  reload();
  writeFileSync(module, "export default async () => 'changed again';\n");
  await new Promise((resolve) => setTimeout(resolve, 1500));
  assert.deepEqual(reloads, [2, 2, 1]);
});

test("a missing module is a fault until it is there", async (t) => {
  const { file, module, reloads, named } = watched(t, PLAIN);
  rmSync(module);
  writeFileSync(file, WITH_MODULE);
  await until(() => reloads.length === 1);
  assert.match(String(named("config_reload_failed")[0]?.errors), /a\.mjs", which cannot be read \(ENOENT\)/);
  writeFileSync(module, "export default async () => {};\n");
  await until(() => reloads.length === 2);
  assert.deepEqual(reloads, [null, 2]);
});

test("a file that was removed is a fault at every reload, and what it said stays in use", (t) => {
  const { config, file, reloads, reload } = watched(t, PLAIN);
  rmSync(file);
  reload();
  reload();
  assert.deepEqual(reloads, [null, null]);
  assert.equal(config.current?.routes?.length, 1);
  assert.match(config.fault ?? "", /is missing$/);
});
