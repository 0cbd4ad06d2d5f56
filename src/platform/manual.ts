import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path/posix";

/** A page of the documentation. */
export interface ManualPage {
  /** Its file in the site, without its ending. */
  name: string;
  /** Markdown. Its links lead to files of the site. */
  text: string;
}

/** The pages beside the folder `docs`, by their names in the site. */
const BESIDE: Record<string, string> = {
  "README.md": "index",
  "CONTRIBUTING.md": "contributing",
  "CHANGELOG.md": "changelog",
};

/** A block of code, or the path of a link to a file of the checkout. */
const CODE_OR_LINK = /^```.*?^```|\]\((?![a-z]+:|#)([^)#\s]+)/gms;

/** Reads the pages of the documentation of a checkout: the README first, then the guides and the reference. */
export function readPages(root: string): ManualPage[] {
  const inDocs = ["docs", "docs/reference"].flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((file) => file.endsWith(".md"))
      .sort()
      .map((file) => `${folder}/${file}`),
  );
  const [readme = "", ...others] = Object.keys(BESIDE);
  return [readme, ...inDocs, ...others].map((file) => ({
    name: nameInSite(file).slice(0, -".md".length),
    text: withLinksOfSite(file, readFileSync(join(root, file), "utf8")),
  }));
}

/** The path in the site for a path in the checkout: what is in `docs` is at the top, as what is beside it. */
function nameInSite(path: string): string {
  const beside = BESIDE[path];
  return beside === undefined ? path.replace(/^docs\//, "") : `${beside}.md`;
}

function withLinksOfSite(file: string, text: string): string {
  return text.replace(CODE_OR_LINK, (all, link?: string) => (link === undefined ? all : `](${linkInSite(file, link)}`));
}

function linkInSite(file: string, link: string): string {
  const folder = join(nameInSite(file), "..");
  const target = relative(folder, nameInSite(join(file, "..", link)));
  return link.endsWith("/") ? `${target}/` : target;
}
