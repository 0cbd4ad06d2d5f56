import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./bundle.ts";

const lock = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8")) as {
  packages: Record<string, { version: string; integrity: string }>;
};

/**
 * The folder of a locked package: the installed one, or, for another platform's, one that is fetched from the registry
 * into `scratch` and compared with the lock file's integrity.
 */
export function packageFolder(name: string, scratch: string): string {
  const installed = join(ROOT, "node_modules", name);
  if (existsSync(installed)) return installed;
  const folder = join(scratch, name.replace("/", "+"));
  if (existsSync(folder)) return join(folder, "package");
  const locked = lock.packages[`node_modules/${name}`];
  if (!locked) throw new Error(`${name} is not in package-lock.json`);
  mkdirSync(folder, { recursive: true });
  const pack = ["pack", "--silent", "--pack-destination", folder, `${name}@${locked.version}`];
  const archive = join(folder, execFileSync("npm", pack, { encoding: "utf8", cwd: folder }).trim());
  const integrity = `sha512-${createHash("sha512").update(readFileSync(archive)).digest("base64")}`;
  if (integrity !== locked.integrity) throw new Error(`${name}@${locked.version} is not what package-lock.json names`);
  execFileSync("tar", ["-xzf", archive, "-C", folder]);
  return join(folder, "package");
}
