import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

/** A package in the program. */
export interface Component {
  name: string;
  version: string;
  /** SPDX expression. */
  license: string;
  /** The full text of the package's licence files. */
  text: string;
  /** Subresource integrity of the package's archive. */
  integrity: string;
}

interface LockedPackage {
  version: string;
  integrity?: string;
  license?: string;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

/**
 * The installed production packages, sorted by name. `rename` maps a package to the one that replaces it on another
 * platform.
 */
export function productionComponents(root: string, rename = (name: string) => name): Component[] {
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
    packages: Record<string, LockedPackage>;
  };
  const found = new Set<string>();
  const visit = (path: string): void => {
    const { dependencies, optionalDependencies } = packages[path] ?? {};
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const nested = `${path}/node_modules/${name}`;
      const next = packages[nested] && path !== "" ? nested : `node_modules/${name}`;
      if (found.has(next) || !existsSync(join(root, next))) continue;
      found.add(next);
      visit(next);
    }
  };
  visit("");
  return [...found]
    .map((path) => {
      const installed = path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
      const name = rename(installed);
      const locked = name === installed ? packages[path] : packages[`node_modules/${name}`];
      if (!locked) throw new Error(`${name} is not in package-lock.json`);
      const { version, license = "UNKNOWN", integrity = "" } = locked;
      return { name, version, license, text: licenseText(join(root, path)), integrity };
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

function licenseText(folder: string): string {
  const files = readdirSync(folder).filter((file) => /^(?:licen[cs]e|copying|notice)/i.test(basename(file)));
  return files
    .sort()
    .map((file) => readFileSync(join(folder, file), "utf8").trim())
    .join("\n\n");
}
