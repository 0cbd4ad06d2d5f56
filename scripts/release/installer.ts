import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { ROOT } from "../build/bundle.ts";
import type { Release } from "./release.ts";

/** Writes `install.sh`, which installs an archive of this release. */
export function writeInstaller(release: Release): void {
  const template = readFileSync(join(import.meta.dirname, "install.sh"), "utf8");
  release.write("install.sh", template.replace("@VERSION@", release.version).replace("@KEY@", release.publicKey ?? ""));
}

/** Writes the recipes of `deploy` for Homebrew and Nix with the version and the checksums of the archives. */
export function writeRecipes(release: Release): void {
  const sums = new Map(release.files().map(({ name, sha256 }) => [name, sha256]));
  for (const path of ["homebrew/authserve.rb", "nix/authserve.nix"]) {
    const recipe = readFileSync(join(ROOT, "deploy", path), "utf8")
      .replaceAll("@VERSION@", release.version)
      .replace(/@SHA256-([\w-]+)@/g, (_, target) => sums.get(`authserve-${release.version}-${target}.tar.gz`) ?? "");
    release.write(basename(path), recipe);
  }
}
