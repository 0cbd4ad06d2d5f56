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

/** The version of a package that the lock file names. */
export function lockedVersion(name: string): string {
  return locked(name).version;
}

/** The integrity (SHA-512) of a package that the lock file names. */
export function lockedIntegrity(name: string): string {
  return locked(name).integrity;
}

/**
 * The folder of a package in the locked version. A package that is not installed is downloaded from the registry into
 * `scratch`, and compared with its integrity.
 */
export function packageFolder(name: string, scratch: string): string {
  const installed = join(ROOT, "node_modules", name);
  if (existsSync(installed)) return installed;
  const wanted = `${name}@${lockedVersion(name)}`;
  const folder = join(scratch, wanted.replace("/", "+"));
  if (existsSync(folder)) return join(folder, "package");
  mkdirSync(folder, { recursive: true });
  const pack = ["pack", "--silent", "--pack-destination", folder, wanted];
  const archive = join(folder, execFileSync("npm", pack, { encoding: "utf8", cwd: folder }).trim());
  const integrity = `sha512-${createHash("sha512").update(readFileSync(archive)).digest("base64")}`;
  if (integrity !== lockedIntegrity(name)) throw new Error(`${wanted} does not match its integrity`);
  execFileSync("tar", ["-xzf", archive, "-C", folder]);
  return join(folder, "package");
}

function locked(name: string): Locked {
  const found = lock.packages[`node_modules/${name}`];
  if (!found) throw new Error(`${name} is not in package-lock.json`);
  return found;
}
