import { execFileSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** A part of a release that needs tools of its own. */
type Part = "linux" | "macos" | "image" | "signature" | "repositories";

interface Tool {
  /** The program, or the library. */
  name: string;
  /** The package of Debian that has it. */
  package: string;
  /** The part that needs it. Without one, every release does. */
  part?: Part;
}

/** What `npm run release` runs, besides what every Linux has. docs/architecture.md names the packages. */
export const TOOLS: readonly Tool[] = [
  { name: "git", package: "git" },
  { name: "npm", package: "npm" },
  // The Node of macOS is a newer one, which also runs here while the executable is built.
  { name: "libatomic.so.1", package: "libatomic1", part: "macos" },
  { name: "dpkg-deb", package: "dpkg", part: "linux" },
  { name: "rpmbuild", package: "rpm", part: "linux" },
  { name: "apt-get", package: "apt", part: "image" },
  { name: "buildah", package: "buildah", part: "image" },
  { name: "minisign", package: "minisign", part: "signature" },
  { name: "gpg", package: "gnupg", part: "repositories" },
  { name: "rpmsign", package: "rpm", part: "repositories" },
  { name: "createrepo_c", package: "createrepo-c", part: "repositories" },
];

/** What lacks for these parts, with what to do. Null if nothing does. */
export function lackingTools(parts: Record<Part, boolean>): string | null {
  const lacking = TOOLS.filter(({ name, part }) => (part === undefined || parts[part]) && !isInstalled(name));
  if (lacking.length === 0) return null;
  const packages = [...new Set(lacking.map((tool) => tool.package))];
  const isForImageOnly = lacking.every(({ part }) => part === "image");
  return [
    `error: this release needs ${lacking.map(({ name }) => name).join(", ")}`,
    `  hint: apt-get install ${packages.join(" ")}${isForImageOnly ? "; or make no image with --without-image" : ""}`,
  ].join("\n");
}

function isInstalled(name: string): boolean {
  if (name.includes(".so.")) return execFileSync("/sbin/ldconfig", ["-p"], { encoding: "utf8" }).includes(`\t${name} `);
  return (process.env.PATH ?? "").split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
