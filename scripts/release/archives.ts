import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { manPage } from "../../src/cli/man.ts";
import { createProgram } from "../../src/cli/program.ts";
import { type Entry, tarGz } from "../build/archive.ts";
import { ROOT } from "../build/bundle.ts";
import { componentsOf } from "../build/program.ts";
import { sbom } from "../build/sbom.ts";
import type { Release } from "./release.ts";

/** Writes an archive and a bill of materials (CycloneDX) for each target. */
export function writeArchives(release: Release): void {
  for (const target of release.targets) {
    const name = `authserve-${release.version}-${target.name}`;
    const entries = [
      { path: "authserve", content: readFileSync(release.executableOf(target)), executable: true },
      ...accompanying(),
    ].map((entry) => ({ ...entry, path: `${name}/${entry.path}` }));
    release.write(`${name}.tar.gz`, tarGz(entries));
    release.write(`${name}.cdx.json`, sbom("authserve", release.version, componentsOf(target)));
  }
}

/** The documentation, and the files for an installation, by their path in the checkout. */
export function documents(): { path: string; content: Buffer }[] {
  const files = ["LICENSE", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "bench/intake.svg"];
  return [...files, ...filesIn("docs"), ...filesIn("deploy")].map((path) => ({
    path,
    content: readFileSync(join(ROOT, path)),
  }));
}

/** The manual page, in the man macros. */
export function manual(): Buffer {
  return Buffer.from(`${manPage(createProgram())}\n`);
}

function accompanying(): Entry[] {
  const entries = [...documents(), { path: "authserve.1", content: manual() }];
  return entries.map((entry) => ({ ...entry, executable: false }));
}

/** The files below a folder, in a fixed order. */
function filesIn(folder: string): string[] {
  const entries = readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  return files.map((file) => relative(ROOT, file)).sort();
}
