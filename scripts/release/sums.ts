import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Release } from "./release.ts";

const SUMS = "SHA256SUMS";

/** Writes the checksums of all files so far. */
export function writeSums(release: Release): void {
  release.write(
    SUMS,
    release
      .files()
      .map(({ sha256, name }) => `${sha256}  ${name}\n`)
      .join(""),
  );
}

/** Signs the checksums with a secret key of minisign, which asks for its password. It signs version and commit too. */
export function signSums(release: Release, secretKey: string): void {
  const file = join(release.dist, SUMS);
  const comment = `authserve ${release.version} ${release.commit}`;
  minisign("-S", "-s", secretKey, "-m", file, "-t", comment, "-c", "signature of SHA256SUMS");
  release.add(`${SUMS}.minisig`);
}

/** The public key of a secret key of minisign. */
export function publicKeyOf(secretKey: string, scratch: string): string {
  const file = join(scratch, "minisign.pub");
  minisign("-R", "-f", "-s", secretKey, "-p", file);
  // The first line is a comment.
  const key = readFileSync(file, "utf8").split("\n")[1];
  if (!key) throw new Error(`minisign found no public key in ${secretKey}`);
  return key;
}

function minisign(...args: string[]): void {
  execFileSync("minisign", args, { stdio: ["inherit", "ignore", "inherit"] });
}
