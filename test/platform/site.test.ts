import assert from "node:assert/strict";
import { join } from "node:path";
import { join as joinPath } from "node:path/posix";
import { suite, test } from "node:test";
import packageJson from "../../package.json" with { type: "json" };
import { MANUAL } from "../../src/admin/page/manual.ts";
import { PAGES } from "../../src/cli/checks/finding.ts";
import { readPages } from "../../src/platform/manual.ts";
import { searchSections, sectionsOf } from "../../src/platform/manual-search.ts";
import { renderSite } from "../../src/platform/site/render.ts";

const ROOT = join(import.meta.dirname, "../..");
const files = await renderSite(ROOT);
const html = Object.entries(files)
  .filter(([name]) => name.endsWith(".html"))
  .map(([name, content]) => ({ name, text: content.toString() }));
const idsOf = (name: string) =>
  new Set(Array.from((files[name] ?? "").toString().matchAll(/ id="([^"]+)"/g), ([, id]) => id));

/** The fault of a link in a page of the site; null if there is none, or it leaves the site. */
function faultOfLink(name: string, link: string): string | null {
  const [path = "", anchor] = link.split("#");
  const target = path === "" ? name : joinPath(name, "..", path);
  if (/^[a-z]+:/.test(link)) return null;
  if (!Object.hasOwn(files, target)) return `${name}: ${link} leads to no file`;
  return anchor === undefined || idsOf(target).has(anchor) ? null : `${name}: ${link} leads to no heading`;
}

suite("the documentation as a site", () => {
  test("every link and picture leads to a file of it, and to a heading there", () => {
    const checked = html.flatMap(({ name, text }) =>
      Array.from(text.matchAll(/ (?:href|src)="([^"]+)"/g), ([, link = ""]) => faultOfLink(name, link)),
    );
    assert.deepEqual(
      checked.filter((fault) => fault !== null),
      [],
    );
    assert.ok(checked.length > 500, `${checked.length} links`);
  });

  test("llms.txt and the navigation have every page, and each page is there as Markdown too", () => {
    const pages = readPages(ROOT);
    assert.ok(pages.some(({ name }) => name === "reference/settings"));
    const list = String(files["llms.txt"]);
    assert.ok(list.startsWith(`# authserve ${packageJson.version}\n`));
    for (const { name, text } of pages) {
      assert.match(list, new RegExp(`^- \\[.+\\]\\(${name}\\.md\\)`, "m"));
      assert.equal(String(files[`${name}.md`]), text);
      assert.ok(String(files["index.html"]).includes(`href="${name}.html"`), name);
    }
  });

  test("a heading in a block of code is none, and blocks of code stay as they are", () => {
    const headings = sectionsOf([{ name: "a", text: "# A\n```\n# no\n```\n## B\nb\n## B\n" }]);
    assert.deepEqual(
      headings.map(({ anchor }) => anchor),
      ["a", "b", "b-1"],
    );
  });

  test("what refers to a page names one that is there", () => {
    for (const page of [...Object.values(PAGES), ...Object.values(MANUAL)]) assert.ok(files[`${page}.html`], page);
  });
});

test("a search finds the sections with all words, and nothing without words", () => {
  const sections = sectionsOf(readPages(ROOT));
  const [first] = searchSections(sections, ["Replay", "dead letter"], 5);
  assert.deepEqual([first?.page, first?.anchor], ["events", "replay-a-dead-letter"]);
  assert.deepEqual(searchSections(sections, ["xyzzy"], 5), []);
  assert.deepEqual(searchSections(sections, [" "], 5), []);
});
