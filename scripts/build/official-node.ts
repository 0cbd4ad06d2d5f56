import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Target } from "./targets.ts";

/** The keys that sign Node releases: fingerprints from the README of nodejs/node, as of September 2026. */
export const RELEASE_KEYS: readonly string[] = [
  "5BE8A3F6C8A5C01D106C0AD820B1A390B168D356",
  "DD792F5973C6DE52C432CBDAC77ABFA00DDBF2B7",
  "CC68F5A3106FF448322E48ED27F5E38D5B0A215F",
  "890C08DB8579162FEE0DF9DB8BEAB4DFCF555EF4",
  "C82FA3AE1CBEDC6BE46B9360C43CEC45C17AB93C",
  "108F52B48DB57BB0CC439B2997B01419BD92F80A",
  "655F3B5C1FB3FA8D1A0CA6BDE4A7D232B936D2FD",
  "A363A499291CBBC940DD62E41F10027AF002F8B0",
];

/** The official archive of a version for a platform. */
export function archiveName(target: Target, version: string): string {
  return `${folderName(target, version)}.tar.gz`;
}

/** The folder in that archive. */
export function folderName({ cpu }: Target, version: string): string {
  return `node-v${version}-linux-${cpu}`;
}

const MAX_EXECUTABLE_BYTES = 1024 ** 3;

/** The executable in an official archive. Throws if the archive is for another version or platform. */
export function executableIn(archive: string, target: Target, version: string): Buffer {
  const path = `${folderName(target, version)}/bin/node`;
  try {
    return execFileSync("tar", ["-xOf", archive, path], {
      maxBuffer: MAX_EXECUTABLE_BYTES,
      stdio: ["ignore", "pipe", "ignore"],
    });
  } catch (cause) {
    throw new Error(`${archive} does not hold ${path}: name the official archive ${archiveName(target, version)}`, {
      cause,
    });
  }
}

/**
 * The checksums of a release, by file name, from its `SHASUMS256.txt.asc`. Throws unless it is signed by a key with one
 * of the `fingerprints`. `keys` are key files, which need not be trusted. Uses GnuPG in an empty folder.
 */
export function signedSums(
  signed: string,
  keys: readonly string[],
  fingerprints: readonly string[],
  scratch: string,
): Map<string, string> {
  const gpg = (...args: string[]) =>
    execFileSync("gpg", ["--homedir", scratch, "--batch", "--quiet", ...args], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
  const input = join(scratch, "signed.asc");
  const output = join(scratch, "sums");
  writeFileSync(input, signed);
  for (const [index, key] of keys.entries()) {
    const file = join(scratch, `key-${index}`);
    writeFileSync(file, key);
    gpg("--import", file);
  }
  let status: string;
  try {
    status = gpg("--status-fd", "1", "--output", output, "--decrypt", input);
  } catch (cause) {
    throw new Error("SHASUMS256.txt.asc is not signed by a known key", { cause });
  }
  // The last word of the line is the fingerprint of the primary key.
  const signer = /^\[GNUPG:\] VALIDSIG .* ([0-9A-F]{40})$/m.exec(status)?.[1];
  if (signer === undefined || !fingerprints.includes(signer))
    throw new Error(`SHASUMS256.txt.asc is signed by ${signer ?? "nobody"}, not by a release key of Node`);
  const lines = readFileSync(output, "utf8").trim().split("\n");
  return new Map(lines.map((line) => line.split(/\s+/).reverse() as [string, string]));
}

/** Throws when a file does not have its checksum. */
export function assertSum(file: string, name: string, sums: ReadonlyMap<string, string>): void {
  const sum = createHash("sha256").update(readFileSync(file)).digest("hex");
  if (sums.get(name) !== sum)
    throw new Error(`${name} has the SHA-256 ${sum}, but the release lists ${sums.get(name)}`);
}
