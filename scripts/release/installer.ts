import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Release } from "./release.ts";

/** Writes `install.sh`, which installs an archive of this release. */
export function writeInstaller(release: Release): void {
  const template = readFileSync(join(import.meta.dirname, "install.sh"), "utf8");
  release.write("install.sh", template.replace("@VERSION@", release.version).replace("@KEY@", release.publicKey ?? ""));
}
