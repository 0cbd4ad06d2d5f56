import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path/posix";
import packageJson from "../../../package.json" with { type: "json" };
import { type ManualPage, readPages } from "../manual.ts";
import { createAnchors, sectionsOf } from "../manual-search.ts";
import { bundleSearchScript } from "../page-bundle.ts";

/** The documentation as files of a site, by their paths in it. */
export type SiteFiles = Record<string, Buffer>;

/**
 * Renders the documentation of a checkout: the HTML and the Markdown of each page, the pictures and files that pages
 * link to, the index for the search, and `llms.txt`. All links are relative, so the site works at any address, and from
 * a folder.
 */
export async function renderSite(root: string): Promise<SiteFiles> {
  const pages = readPages(root);
  const readme = pages.find(({ name }) => name === "index")?.text ?? "";
  const groups = groupsOf(pages, readme);
  const markdown = await createRenderer();
  const files: SiteFiles = {
    "style.css": readFileSync(join(import.meta.dirname, "style.css")),
    "search.js": await bundleSearchScript(),
    "search-index.js": Buffer.from(`globalThis.manual=${JSON.stringify(sectionsOf(pages))};`),
    "llms.txt": Buffer.from(llmsText(groups, readme)),
  };
  for (const page of pages) {
    const content = renderPage(markdown, page, (path) => addLinked(files, root, path));
    files[`${page.name}.md`] = Buffer.from(page.text);
    files[`${page.name}.html`] = Buffer.from(document(page.name, titleOf(page), content, groups));
  }
  return files;
}

type Renderer = Awaited<ReturnType<typeof createRenderer>>;

async function createRenderer() {
  const { default: create } = await import("markdown-it").catch(() => {
    throw new Error("the manual needs markdown-it: run npm ci without --omit=dev, or use the executable");
  });
  const markdown = create({ html: true });
  // A wide table is scrolled by itself.
  markdown.renderer.rules.table_open = () => '<div class="table" tabindex="0"><table>\n';
  markdown.renderer.rules.table_close = () => "</table></div>\n";
  return markdown;
}

/** Adds a file or folder that a page links to, and returns the path to link to instead. */
type AddLinked = (path: string) => string;

function renderPage(markdown: Renderer, { name, text }: ManualPage, add: AddLinked): string {
  const anchorOf = createAnchors();
  const tokens = markdown.parse(text, {});
  for (const [index, token] of tokens.entries()) {
    if (token.type === "heading_open") token.attrSet("id", anchorOf(tokens[index + 1]?.content ?? ""));
    for (const inline of token.children ?? []) {
      const attribute = inline.type === "image" ? "src" : "href";
      const link = inline.attrGet(attribute);
      if (link !== null) inline.attrSet(attribute, linkOf(name, String(link), add));
    }
  }
  // What is scrolled by itself can be scrolled with the keys.
  return markdown.renderer.render(tokens, markdown.options, {}).replaceAll("<pre>", '<pre tabindex="0">');
}

function linkOf(page: string, link: string, add: AddLinked): string {
  const [path = "", anchor] = link.split("#");
  if (path === "" || /^[a-z]+:/.test(link)) return link;
  const hash = anchor === undefined ? "" : `#${anchor}`;
  if (path.endsWith(".md")) return `${path.slice(0, -".md".length)}.html${hash}`;
  return pathToTop(page) + add(join(dirname(page), path));
}

/** Adds a file of the checkout; of a folder all files, and a page that lists them. Returns the path to link to. */
function addLinked(files: SiteFiles, root: string, path: string): string {
  const inDocs = join(root, "docs", path);
  const source = existsSync(inDocs) ? inDocs : join(root, path);
  if (statSync(source).isFile()) {
    files[path] ??= readFileSync(source);
    return path;
  }
  const names = readdirSync(source, { recursive: true, encoding: "utf8" })
    .filter((name) => statSync(join(source, name)).isFile())
    .sort();
  for (const name of names) files[join(path, name)] ??= readFileSync(join(source, name));
  const list = names.map((name) => `<li><a href="${name}">${name}</a></li>\n`).join("");
  const listing = join(path, "index.html");
  files[listing] = Buffer.from(document(listing, path, `<h1>${path}</h1>\n<ul>\n${list}</ul>\n`, []));
  return listing;
}

/** The relative path from a page to the top of the site. */
const pathToTop = (name: string) => "../".repeat(name.split("/").length - 1);

/** Pages that belong together in the navigation. */
interface Group {
  title: string;
  pages: readonly ManualPage[];
}

/** The groups in the navigation. The guides have the order in which the tables of the README name them last. */
function groupsOf(pages: readonly ManualPage[], readme: string): Group[] {
  const isReference = ({ name }: ManualPage) => name.startsWith("reference/");
  const rows = readme.match(/^\|.*$/gm)?.join("") ?? "";
  const place = ({ name }: ManualPage) => {
    if (name === "index") return -1;
    const at = rows.lastIndexOf(`](${name}.md`);
    return at < 0 ? rows.length : at;
  };
  return [
    {
      title: "Guides",
      pages: pages.filter((page) => !isReference(page)).sort((one, other) => place(one) - place(other)),
    },
    { title: "Reference", pages: pages.filter(isReference) },
  ];
}

const titleOf = ({ name, text }: ManualPage) => /^# (.*)$/m.exec(text)?.[1] ?? name;

/** The list of pages for programs that read, see https://llmstxt.org. The README has what each guide is for. */
function llmsText(groups: readonly Group[], readme: string): string {
  const lists = groups.map(({ title, pages }) => {
    const lines = pages.map((page) => {
      const [, purpose] = new RegExp(`^\\| ([^|]+) \\|.*\\]\\(${page.name}\\.md`, "m").exec(readme) ?? [];
      return `- [${titleOf(page)}](${page.name}.md)${purpose === undefined ? "" : `: ${purpose}`}`;
    });
    return `## ${title}\n\n${lines.join("\n")}\n`;
  });
  return [`# authserve ${packageJson.version}\n`, `> ${packageJson.description}\n`, ...lists].join("\n");
}

function document(name: string, title: string, content: string, groups: readonly Group[]): string {
  const top = pathToTop(name);
  const lists = groups.map(({ title, pages }) => {
    const links = pages.map((page) => {
      const current = page.name === name ? ' aria-current="page"' : "";
      return `<li><a href="${top}${page.name}.html"${current}>${titleOf(page)}</a></li>\n`;
    });
    return `<h2>${title}</h2>\n<ul>\n${links.join("")}</ul>\n`;
  });
  return `<!doctype html>
<html lang="en" data-top="${top}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · authserve ${packageJson.version}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${top}style.css">
<script defer src="${top}search.js"></script>
</head>
<body>
<header>
<a class="brand" href="${top}index.html">authserve <span>${packageJson.version}</span></a>
<form role="search" hidden><input type="search" aria-label="Search the manual" placeholder="Search" autocomplete="off"></form>
</header>
<ol id="found" aria-live="polite" hidden></ol>
<div class="columns">
<main>
${content}</main>
<nav aria-label="Pages">
${lists.join("")}</nav>
</div>
</body>
</html>
`;
}
