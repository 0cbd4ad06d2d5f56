import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { buildProgram, DIST, executableName } from "./build/program.ts";
import { ownTarget } from "./build/targets.ts";

const { values: options } = parseArgs({ options: { node: { type: "string" } } });

const scratch = mkdtempSync(join(tmpdir(), "authserve-packages-"));
try {
  mkdirSync(DIST, { recursive: true });
  const target = ownTarget();
  const output = join(DIST, executableName(target));
  await buildProgram(target, { output, scratch, nodeArchive: options.node });
  process.stderr.write(`built ${output}\n`);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
