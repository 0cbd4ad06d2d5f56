import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import packer from "@yao-pkg/pkg/lib-es5/sea.js";
import { THREADS } from "../../src/platform/checkout.ts";
import { type AddonFiles, bundle } from "./bundle.ts";
import { LOADER } from "./loader.ts";
import { archiveName, executableIn, folderName } from "./official-node.ts";
import { lockedVersion, packageFolder } from "./packages.ts";
import { stripElf } from "./strip.ts";
import { ownTarget, type Target } from "./targets.ts";

/** What the program reads at runtime, by name. */
type Files = Record<string, string | Buffer>;

// Node records this path in the executable. A fixed path makes builds of a commit identical on all machines.
const STAGE = "/tmp/authserve-build";
const STAGE_TIMEOUT_MS = 180_000;

interface BuildOptions {
  files: Files;
  output: string;
  /** The folder for downloaded packages of the other processor. */
  scratch: string;
  /** The official Node archive for the target, to use instead of the registry's package. */
  nodeArchive?: string | undefined;
}

/** Builds the executable of one target. */
export async function buildExecutable(target: Target, options: BuildOptions): Promise<void> {
  const { files, output, scratch, nodeArchive } = options;
  const addons = addonsOf(target, scratch);
  await acquireStage();
  try {
    const stage = (name: string, content: string | Buffer) => {
      const file = join(STAGE, name);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, content);
      return file;
    };
    const entry = stage("authserve.cjs", `${LOADER}loadChunk("./main.js").run();`);
    const code = await bundle({ main: "cli/main.ts", ...THREADS }, addons);
    const threads: Files = {};
    for (const name of Object.keys(THREADS)) threads[`${name}-thread.cjs`] = `${LOADER}loadChunk("./${name}.js");`;
    const assets: Files = { ...code, ...threads, ...files };
    const staged = Object.entries(assets).map(([name, content]) => [name, stage(name, content)]);
    const version = lockedVersion(target.nodePackage);
    // The Node of the executable, and that of this machine, which prepares the content.
    for (const platform of new Set([target, ownTarget()])) {
      const isOfficial = platform === target && nodeArchive !== undefined;
      const node = isOfficial ? executableIn(nodeArchive, target, version) : packagedNode(platform, scratch);
      stageNode(platform, version, node);
    }
    await withHome(STAGE, () =>
      packer.default(entry, {
        targets: [{ nodeRange: `node${version}`, platform: "linux", arch: target.cpu, output } as never],
        signature: true,
        seaConfig: {
          disableExperimentalSEAWarning: true,
          useSnapshot: false,
          // V8's code cache would save 16 ms at start, but builds would not be reproducible.
          useCodeCache: false,
          assets: { ...addons, ...Object.fromEntries(staged) },
        },
      }),
    );
    chmodSync(output, 0o755);
  } finally {
    rmSync(STAGE, { recursive: true, force: true });
  }
}

/** Creates the staging folder. Waits while another build uses it. */
async function acquireStage(): Promise<void> {
  const givesUpAt = Date.now() + STAGE_TIMEOUT_MS;
  for (;;) {
    try {
      return mkdirSync(STAGE, { mode: 0o700 });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST" || Date.now() > givesUpAt) {
        throw new Error(`${STAGE} cannot be created: remove it if an earlier build left it`, { cause: error });
      }
      await delay(500);
    }
  }
}

async function withHome(home: string, run: () => Promise<void>): Promise<void> {
  const before = process.env.HOME;
  process.env.HOME = home;
  try {
    await run();
  } finally {
    if (before === undefined) delete process.env.HOME;
    else process.env.HOME = before;
  }
}

/** The native add-ons of a target. */
export function addonsOf(target: Target, scratch: string): AddonFiles {
  const napi = (name: string) =>
    join(packageFolder(`@node-rs/${name}-${target.napi}`, scratch), `${name}.${target.napi}.node`);
  return {
    "better-sqlite3": join(packageFolder("better-sqlite3", scratch), `prebuilds/linux-${target.cpu}.node`),
    argon2: napi("argon2"),
    bcrypt: napi("bcrypt"),
  };
}

/** The Node of the registry's package. */
function packagedNode(target: Target, scratch: string): Buffer {
  return readFileSync(join(packageFolder(target.nodePackage, scratch), "bin/node"));
}

/**
 * Puts a Node into pkg's download cache, below its home, and marks it as complete, so that pkg downloads nothing.
 */
function stageNode(target: Target, version: string, node: Buffer): void {
  const cache = join(STAGE, ".pkg-cache/sea");
  const archive = join(cache, archiveName(target, version));
  const executable = join(cache, folderName(target, version), "bin/node");
  mkdirSync(join(executable, ".."), { recursive: true });
  for (const file of [archive, `${archive}.ok`, `${executable}.ok`]) writeFileSync(file, "");
  writeFileSync(executable, stripElf(node));
  chmodSync(executable, 0o755);
}
