import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** A part of a release that needs tools of its own. */
type Part = "image" | "signature" | "repositories";

interface Tool {
  /** The program. */
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
  { name: "dpkg-deb", package: "dpkg" },
  { name: "rpmbuild", package: "rpm" },
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
  return (process.env.PATH ?? "").split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
