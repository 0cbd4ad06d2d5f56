import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import packageJson from "../../package.json" with { type: "json" };
import { ROOT } from "../build/bundle.ts";
import type { Target } from "../build/targets.ts";

/** An executable that becomes a package. */
interface PackageSource {
  target: Target;
  executable: string;
}

/**
 * Packs the npm package `authserve`, and a package for each executable. `authserve` has these as optional dependencies,
 * so npm installs the one of the user's platform. Returns the names of the archives, written to `output`.
 */
export function buildNpmPackage(sources: readonly PackageSource[], output: string, scratch: string): string[] {
  const folder = mkdtempSync(join(scratch, "npm-"));
  const { version, description, license } = packageJson;
  const common = { version, description, license };
  try {
    const platforms = sources.map(({ target, executable }) => {
      const name = `authserve-${target.name}`;
      const platform = { os: ["linux"], cpu: [target.cpu], libc: ["glibc"] };
      const manifest = { name, ...common, ...platform, files: ["authserve"] };
      return pack(join(folder, name), manifest, { authserve: executable }, output);
    });
    const names = sources.map(({ target }) => `authserve-${target.name}`);
    const manifest = {
      name: "authserve",
      ...common,
      bin: { authserve: "authserve" },
      files: ["authserve"],
      // npm refuses Windows, which cannot run the launcher. On a Mac the launcher says what to do.
      os: ["!win32"],
      optionalDependencies: Object.fromEntries(names.map((name) => [name, version])),
    };
    const own = join(ROOT, "scripts/release/npm");
    const files = { authserve: join(own, "authserve"), "README.md": join(own, "README.md") };
    return [...platforms, pack(join(folder, "authserve"), manifest, files, output)];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Packs a package of these files, given by their names in it. */
function pack(folder: string, manifest: object, files: Record<string, string>, output: string): string {
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  copyFileSync(join(ROOT, "LICENSE"), join(folder, "LICENSE"));
  for (const [name, file] of Object.entries(files)) copyFileSync(file, join(folder, name));
  chmodSync(join(folder, "authserve"), 0o755);
  const args = ["pack", "--silent", "--pack-destination", output];
  return execFileSync("npm", args, { cwd: folder, encoding: "utf8" }).trim();
}
