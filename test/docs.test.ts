import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { suite, test } from "node:test";
import * as v from "valibot";
import packageJson from "../package.json" with { type: "json" };
import { INSTALLS } from "../scripts/docs/installs.ts";
import { DEPLOY, nginxIncludes } from "../scripts/docs/nginx-includes.ts";
import { PAGES, REFERENCE_DIR } from "../scripts/docs/pages.ts";
import { SETTING_GROUPS } from "../src/config/settings.ts";
import { LOG_EVENTS } from "../src/log-events.ts";
import { sectionsOf } from "../src/platform/manual-search.ts";
import { TABLES } from "../src/storage/tables.ts";
import { allProviders } from "../src/webhook/providers/index.ts";

const ROOT = join(import.meta.dirname, "..");

const sorted = (values: Iterable<string>) => [...values].sort();
const filesIn = (folder: string, ending: string) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(ending))
    .map((file) => join(ROOT, folder, file));

suite("the reference matches the code", () => {
  for (const [name, render] of Object.entries(PAGES)) {
    test(name, async () => {
      const written = readFileSync(join(REFERENCE_DIR, name), "utf8");
      assert.equal(written, await render(), `${name} is stale: run npm run docs`);
    });
  }

  test("there are no other pages", () =>
    assert.deepEqual(sorted(readdirSync(REFERENCE_DIR)), sorted(Object.keys(PAGES))));
});

suite("the page of files to install from", () => {
  test("names files and tests that exist", () => {
    const named = INSTALLS.flatMap(({ file, madeBy = file, started, linted }) => [madeBy, started?.[1], linted?.[1]]);
    assert.deepEqual(
      named.filter((path) => path !== undefined && !existsSync(join(ROOT, path))),
      [],
    );
  });

  test("names every file of deploy", () => {
    const isNamed = (path: string) => INSTALLS.some(({ file }) => path === file || path.startsWith(`${file}/`));
    const files = filesIn("deploy", "").filter((file) => statSync(file).isFile());
    assert.deepEqual(
      files.map((file) => relative(ROOT, file)).filter((path) => !isNamed(path)),
      [],
    );
  });
});

test("the files for the server of another program are the parts of deploy/nginx-app.conf", () => {
  const parts = nginxIncludes();
  const files = Object.keys(parts).map((name) => [name, readFileSync(join(DEPLOY, name), "utf8")]);
  assert.deepEqual(Object.fromEntries(files), parts, "they are stale: run npm run docs");
  assert.deepEqual(
    readdirSync(join(DEPLOY, "nginx")).map((name) => `nginx/${name}`),
    sorted(Object.keys(parts).filter((name) => name.startsWith("nginx/"))),
  );
});

test("the example of each setting is a valid value", () => {
  for (const [name, { schema, example, secret }] of Object.values(SETTING_GROUPS).flatMap(Object.entries)) {
    if (secret) continue;
    const { issues = [] } = v.safeParse(schema, example);
    assert.deepEqual(issues, [], name);
  }
});

test("each log event is written, at its level", () => {
  const written = new Set<string>();
  for (const file of filesIn("src", ".ts")) {
    const text = readFileSync(file, "utf8");
    for (const [, name = ""] of text.matchAll(/event: "([a-z_]+)"/g)) written.add(name);
    for (const [, level, name = ""] of text.matchAll(/log\.([a-z]+)\(\s*\{ event: "([a-z_]+)"/g)) {
      assert.equal(level, LOG_EVENTS[name as keyof typeof LOG_EVENTS].level, name);
    }
  }
  assert.deepEqual(
    Object.keys(LOG_EVENTS).filter((name) => !written.has(name)),
    [],
  );
});

/** The text of a page without its code blocks. */
function proseOf(file: string): string {
  return readFileSync(file, "utf8").replace(/^```.*?^```$/gms, "");
}

/** The anchors that GitHub makes from the headings of a page. */
function anchorsOf(file: string): Set<string> {
  const sections = sectionsOf([{ name: file, text: readFileSync(file, "utf8") }]);
  return new Set(sections.map(({ anchor }) => anchor));
}

/** The fault of a link; null if there is none, or the link leaves the project. */
function faultOfLink(file: string, link: string): string | null {
  if (/^[a-z]+:/.test(link)) return null;
  const [path = "", anchor] = link.split("#");
  const target = path === "" ? file : join(dirname(file), path);
  const shown = `${relative(ROOT, file)}: ${link}`;
  if (!existsSync(target)) return `${shown} leads to no file`;
  return anchor === undefined || anchorsOf(target).has(anchor) ? null : `${shown} leads to no heading`;
}

test("every link in the README, CONTRIBUTING.md and the docs leads to an existing file and heading", () => {
  const pages = [join(ROOT, "README.md"), join(ROOT, "CONTRIBUTING.md"), ...filesIn("docs", ".md")];
  const faults = pages.flatMap((file) =>
    Array.from(proseOf(file).matchAll(/\]\(([^)\s]+)\)/g), ([, link = ""]) => faultOfLink(file, link)),
  );
  assert.deepEqual(
    faults.filter((fault) => fault !== null),
    [],
  );
});

const MIN_WORDS = 8;

const isListItem = (line: string) => /^ *(-|\d+\.) /.test(line);

/** The paragraphs and list items of a page, with the number of their first line. Code, headings and tables are none. */
function paragraphsOf(file: string): { line: number; text: string }[] {
  const blank = (block: string) => block.replace(/.+/g, "");
  const text = readFileSync(file, "utf8")
    .replace(/^```.*?^```$/gms, blank)
    .replace(/(?<=\n\n)(?: {4}.*\n+)+/g, blank)
    .replace(/^(?:\||#|!\[).*/gm, "")
    .replace(/\]\([^)]*\)/g, "]");
  const paragraphs: { line: number; text: string }[] = [];
  let isOpen = false;
  for (const [index, line] of text.split("\n").entries()) {
    const last = paragraphs.at(-1);
    if (last && isOpen && line !== "" && !isListItem(line)) last.text += ` ${line.trim()}`;
    else if (line !== "") paragraphs.push({ line: index + 1, text: line.trim() });
    isOpen = line !== "";
  }
  return paragraphs;
}

/** The sentences of a paragraph that are long enough to be no formula such as "See also". */
const sentencesOf = (text: string) =>
  text
    .replace(/^(-|\d+\.) /, "")
    .split(/(?<=[.:?!][*)`"]*) /)
    .filter((sentence) => sentence.split(" ").filter((word) => /\p{L}|\p{N}/u.test(word)).length >= MIN_WORDS);

test(`no sentence of ${MIN_WORDS} words stands twice in the pages that people write`, () => {
  const pages = readdirSync(join(ROOT, "docs")).filter((name) => name.endsWith(".md"));
  const places = new Map<string, string[]>();
  for (const file of ["README.md", "CONTRIBUTING.md", ...pages.map((name) => `docs/${name}`)]) {
    for (const { line, text } of paragraphsOf(join(ROOT, file))) {
      for (const sentence of sentencesOf(text)) {
        places.set(sentence, [...(places.get(sentence) ?? []), `${file}:${line}`]);
      }
    }
  }
  const doubled = [...places].filter(([, at]) => at.length > 1);
  assert.deepEqual(
    doubled.map(([sentence, at]) => `${at.join(" and ")}: ${sentence}`),
    [],
  );
  assert.ok(places.size > 1000, String(places.size));
});

test("every file that docs/architecture.md and CONTRIBUTING.md name exists", () => {
  const sources = filesIn("src", ".ts");
  const exists = (path: string) => existsSync(join(ROOT, path)) || sources.some((file) => file.endsWith(`/${path}`));
  const missing = ["docs/architecture.md", "CONTRIBUTING.md"].flatMap((page) => {
    const text = readFileSync(join(ROOT, page), "utf8");
    const named = text.matchAll(/`((?:docs|deploy|src|test)\/[\w./-]+|[\w./-]+\.(?:ts|md|yml))`/g);
    return Array.from(named, ([, path = ""]) => path).filter((path) => !path.includes("NAME") && !exists(path));
  });
  assert.deepEqual(missing, []);
});

test("docs/architecture.md gives a reason for every production package, and no other", () => {
  const text = readFileSync(join(ROOT, "docs/architecture.md"), "utf8");
  const rows = text.slice(text.indexOf("## Dependencies")).matchAll(/^- (`.*?`): \S/gm);
  const documented = Array.from(rows).flatMap(([, names = ""]) => names.replaceAll("`", "").split(", "));
  const { dependencies, optionalDependencies } = packageJson;
  assert.deepEqual(sorted(documented), sorted(Object.keys({ ...dependencies, ...optionalDependencies })));
});

test("docs/operate.md names every setting that may come from a file", () => {
  const text = readFileSync(join(ROOT, "docs/operate.md"), "utf8");
  const [, listed = ""] = /This works for (.*?)\. /s.exec(text) ?? [];
  const secrets = Object.values(SETTING_GROUPS)
    .flatMap(Object.entries)
    .filter(([, { secret }]) => secret)
    .map(([name]) => name);
  assert.deepEqual(sorted(Array.from(listed.matchAll(/`(\w+)`/g), ([, name = ""]) => name)), sorted(secrets));
});

test("the README has at most 900 words, and does not overstate the number of providers", () => {
  const text = readFileSync(join(ROOT, "README.md"), "utf8");
  const [, claimed = ""] = /More than (\d+) providers/.exec(text) ?? [];
  const providers = allProviders().filter(([, { aliasOf }]) => aliasOf === undefined).length;
  assert.ok(Number(claimed) < providers && providers <= Number(claimed) + 20, String(providers));
  assert.ok(text.split(/\s+/).filter((word) => /\p{L}|\d/u.test(word)).length <= 900);
});

test("docs/architecture.md names every table of the stores, and no other", () => {
  const text = readFileSync(join(ROOT, "docs/architecture.md"), "utf8");
  const data = text.slice(text.indexOf("## The data"), text.indexOf("## The threads"));
  const namesIn = (part: string) => Array.from(part.matchAll(/`([a-z_*]+)`/g), ([, name = ""]) => name);
  const [ofTables = ""] = data.split("\nBeside it:");
  const listed = namesIn(ofTables.slice(ofTables.indexOf("\n- ")));
  const tables = TABLES.map(({ name }) => name);
  const matches = (name: string, pattern: string) => new RegExp(`^${pattern.replace("*", "\\w+")}$`).test(name);
  const unnamed = tables.filter((name) => !namesIn(data).some((pattern) => matches(name, pattern)));
  const unknown = listed.filter((pattern) => !tables.some((name) => matches(name, pattern)));
  assert.deepEqual({ unnamed, unknown }, { unnamed: [], unknown: [] });
});
