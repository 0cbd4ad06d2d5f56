import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

/** The values of a key of the systemd unit, in their order. */
function valuesOf(key: string): string[] {
  const unit = readFileSync(join(import.meta.dirname, "../../deploy/authserve.service"), "utf8");
  return unit
    .split("\n")
    .filter((line) => line.startsWith(`${key}=`))
    .map((line) => line.slice(key.length + 1));
}

test("an unavailable store neither stops the service nor ends its restarts", () => {
  const waits = valuesOf("ExecStartPost");
  assert.equal(waits.length, 1);
  // systemd.service(5): a failure of a command with the prefix "-" is ignored.
  assert.match(waits[0] ?? "", /^-\/usr\/local\/bin\/authserve ready --timeout [0-9]+s$/);
  assert.deepEqual(valuesOf("StartLimitIntervalSec"), ["0"]);
  assert.deepEqual(valuesOf("StartLimitBurst"), []);
});

test("the service is not restarted with wrong settings", () => {
  assert.deepEqual(valuesOf("RestartPreventExitStatus"), ["2"]);
});
