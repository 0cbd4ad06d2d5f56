// Compares the Node executables in the registry's packages, which third parties publish, with the official release.
//
//   npm run verify:node              for this processor
//   npm run verify:node -- --all     for both processors
//   npm run verify:node -- DIR       with the official files in DIR, downloaded on another machine
//
// Exit code 0: all are identical. 1: one differs. 2: the official files are not available.

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { archiveName, assertSum, executableIn, RELEASE_KEYS, signedSums } from "./build/official-node.ts";
import { lockedVersion, packageFolder } from "./build/packages.ts";
import { ownTarget, TARGETS, type Target } from "./build/targets.ts";

const SIGNED_SUMS = "SHASUMS256.txt.asc";

const scratch = mkdtempSync(join(tmpdir(), "verify-node-"));
const args = process.argv.slice(2);
const targets = args.includes("--all") ? TARGETS : [ownTarget()];
const given = args.find((arg) => !arg.startsWith("--"));

try {
  for (const target of targets) {
    const isSame = await compare(target);
    const version = lockedVersion(target.nodePackage);
    const verdict = isSame ? "is the official" : "is NOT the official";
    process.stdout.write(`${target.nodePackage} ${verdict} Node ${version} of ${target.name}\n`);
    if (!isSame) process.exitCode = 1;
  }
} catch (error) {
  process.stderr.write(`verify-node: ${(error as Error).message}\n`);
  process.exitCode = 2;
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

/** Whether the executable of a package is identical to that of the official release. */
async function compare(target: Target): Promise<boolean> {
  const version = lockedVersion(target.nodePackage);
  const release = `https://nodejs.org/dist/v${version}`;
  const name = archiveName(target, version);
  const signed = readFileSync(await obtain(SIGNED_SUMS, release, version), "utf8");
  const keys: string[] = [];
  for (const key of RELEASE_KEYS) {
    keys.push(
      readFileSync(
        await obtain(`${key}.asc`, "https://raw.githubusercontent.com/nodejs/release-keys/HEAD/keys"),
        "utf8",
      ),
    );
  }
  const sums = signedSums(signed, keys, RELEASE_KEYS, mkdtempSync(join(scratch, "gpg-")));
  const archive = await obtain(name, release);
  assertSum(archive, name, sums);
  const packaged = readFileSync(join(packageFolder(target.nodePackage, scratch), "bin/node"));
  return packaged.equals(executableIn(archive, target, version));
}

/** Finds a file in the given folder, or downloads it. Files of several versions may have the same name. */
async function obtain(name: string, from: string, version = ""): Promise<string> {
  if (given !== undefined) {
    const file = [join(given, `v${version}`, name), join(given, name)].find(existsSync);
    if (!file) throw new Error(`${given} has no ${name}: fetch it from ${from}/${name}`);
    return file;
  }
  const file = join(scratch, `${version}${name}`);
  if (existsSync(file)) return file;
  const url = `${from}/${name}`;
  const response = await fetch(url).catch((error: unknown) => {
    throw new Error(`${url} cannot be fetched (${String((error as Error).cause ?? error)}): name a folder that has it`);
  });
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  writeFileSync(file, Buffer.from(await response.arrayBuffer()));
  return file;
}
