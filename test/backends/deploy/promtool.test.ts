import assert from "node:assert/strict";
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { runProgram } from "../../helpers/command.ts";
import { needsPrometheus } from "../../helpers/prometheus-process.ts";
import { workingDir } from "../../helpers/working-dir.ts";

const RULES = join(import.meta.dirname, "../../../deploy/prometheus-rules.yml");
const PAGE = join(import.meta.dirname, "../../../docs/monitoring.md");
const UNIT_TESTS = join(import.meta.dirname, "prometheus-rules");

suite("the rules of Prometheus", needsPrometheus(), () => {
  const promtool = (args: string[]) => runProgram("promtool", args, { dir: UNIT_TESTS });

  test("are valid", async () => {
    const { code, stdout, stderr } = await promtool(["check", "rules", "--lint=all", "--lint-fatal", RULES]);
    assert.equal(code, 0, stdout + stderr);
  });

  test("are loaded by the configuration in docs/monitoring.md", async () => {
    const dir = workingDir();
    const [, configuration = ""] = /^```yaml\n(rule_files:\n.*?)^```$/ms.exec(readFileSync(PAGE, "utf8")) ?? [];
    writeFileSync(join(dir, "prometheus.yml"), configuration);
    copyFileSync(RULES, join(dir, "authserve-rules.yml"));
    const { code, stdout, stderr } = await promtool(["check", "config", join(dir, "prometheus.yml")]);
    assert.equal(code, 0, stdout + stderr);
    assert.match(stdout, /1 rule files found/);
  });

  for (const file of readdirSync(UNIT_TESTS)) {
    test(`fire when they should, and only then: ${file}`, async () => {
      const { code, stdout, stderr } = await promtool(["test", "rules", file]);
      assert.equal(code, 0, stdout + stderr);
    });
  }
});
