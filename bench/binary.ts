import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { JWT_SECRET, PASSWORD_HASH } from "../test/helpers/credentials.ts";
import { figureLine, GOALS } from "./goals.ts";
import { rssMb } from "./targets.ts";

/**
 * Measures the size, start and memory of dist/authserve against its goals. Takes the best of many runs, because noise
 * only adds time.
 */
const BINARY = join(import.meta.dirname, "../dist/authserve");
const RUNS = 20;
const STARTS = 5;
const IDLE_MS = 3000;

const dir = mkdtempSync(join(tmpdir(), "authserve-bench-"));
const env = {
  PORT: "0",
  DATA_DIR: join(dir, "data"),
  ADDON_DIR: join(dir, "addons"),
  JWT_SECRET,
  DEMO_EMAIL: "owner@example.com",
  DEMO_PASSWORD: PASSWORD_HASH,
};

try {
  const bareMs = bestOf(RUNS, () => execFileSync(process.execPath, ["-e", "0"]));
  const versionMs = bestOf(RUNS, () => execFileSync(BINARY, ["--version"]));
  const starts: { readyMs: number; rssMb: number }[] = [];
  for (let start = 0; start < STARTS; start++) starts.push(await startServer(start === STARTS - 1 ? IDLE_MS : 0));
  const readyMs = Math.min(...starts.map((start) => start.readyMs));
  for (const line of [
    figureLine("size", statSync(BINARY).size / 1e6, "MB", GOALS.executableMb),
    figureLine("bare node -e 0", bareMs, "ms"),
    figureLine("--version", versionMs, "ms"),
    figureLine("--version / bare node", versionMs / bareMs, "x", GOALS.versionOfBare),
    figureLine("serve ready", readyMs, "ms", GOALS.readyMs),
    figureLine("idle RSS", starts.at(-1)?.rssMb ?? 0, "MB", GOALS.idleMb),
  ]) {
    console.log(line);
  }
} finally {
  rmSync(dir, { recursive: true, force: true });
}

function bestOf(runs: number, run: () => void): number {
  let best = Number.POSITIVE_INFINITY;
  for (let index = 0; index < runs; index++) {
    const from = performance.now();
    run();
    best = Math.min(best, performance.now() - from);
  }
  return best;
}

async function startServer(idleMs: number): Promise<{ readyMs: number; rssMb: number }> {
  const from = performance.now();
  const child = spawn(BINARY, ["serve"], { cwd: dir, env, stdio: ["ignore", "pipe", "inherit"] });
  const exited = new Promise((resolve) => child.once("exit", resolve));
  for await (const chunk of child.stdout) if (String(chunk).includes("server_started")) break;
  const readyMs = performance.now() - from;
  await delay(idleMs);
  const found = rssMb(child.pid);
  child.kill("SIGKILL");
  await exited;
  return { readyMs, rssMb: found };
}
