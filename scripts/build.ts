import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { buildProgram, DIST } from "./build/program.ts";
import { ownTarget } from "./build/targets.ts";

const { values: options } = parseArgs({ options: { node: { type: "string" } } });

const scratch = mkdtempSync(join(tmpdir(), "authserve-packages-"));
try {
  mkdirSync(DIST, { recursive: true });
  const output = join(DIST, "authserve");
  await buildProgram(ownTarget(), { output, scratch, nodeArchive: options.node });
  process.stderr.write(`built ${output}\n`);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
