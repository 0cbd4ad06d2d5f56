import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { test } from "node:test";

const ROOT = join(import.meta.dirname, "..");
const FOLDERS = ["src", "test", "bench", "scripts"];

/**
 * What is loaded by its name: providers, what the executable has instead of a checkout's files, and services of tests.
 */
const LOADED_BY_NAME =
  /^(?:src\/webhook\/providers\/|src\/auth\/clients\/presets\/|src\/platform\/(?:binary|addons)\.ts|src\/cli\/main\.ts|scripts\/build\/bundle\.ts|test\/helpers\/services\.ts|test\/openapi\/program\/|bench\/peers\/)/;

const files = FOLDERS.flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name) && !name.includes("node_modules"))
    .map((name) => `${folder}/${name}`),
);
const texts = new Map(files.map((file) => [file, readFileSync(join(ROOT, file), "utf8")]));

const DECLARED =
  /^export (?:declare )?(?:async )?(?:const|let|function\*?|class|interface|type|enum) ([A-Za-z_$][\w$]*)/gm;
const LISTED = /^export (?:type )?\{([^}]*)\}/gm;
const IMPORTED =
  /(?:import|export)\s+(?:type\s+)?(?:[\w$]+\s*,\s*)?(?:\{([^}]*)\}|\*\s*(?:as\s+([\w$]+))?)\s*from\s*"(\.[^"]+)"/g;
/** `const { a } = await import("./b.ts")`, `(await import("./b.ts")).a`, or `import("./b.ts").then(({ a }) => …)`. */
const LOADED =
  /(?:\{([^{}]*)\}\s*=\s*await\s+)?import\(\s*"(\.[^"]+)"\s*,?\s*\)(?:\)\s*\.(\w+)|\.then\(\(\{([^}]*)\}\))?/g;

const namesIn = (list: string, side: 0 | 1) =>
  list
    .split(",")
    .map(
      (item) =>
        item
          .trim()
          .replace(/^type /, "")
          .split(/\s+as\s+|\s*:\s*/)
          .at(side === 0 ? 0 : -1) as string,
    )
    .filter((name) => name !== "");

function exportsOf(text: string): string[] {
  return [
    ...[...text.matchAll(DECLARED)].map(([, name = ""]) => name),
    ...[...text.matchAll(LISTED)].flatMap(([, list = ""]) => namesIn(list, 1)),
  ];
}

/** What other files use of each file: names, or null for all of it. */
function usesOf(): Map<string, Set<string> | null> {
  const uses = new Map<string, Set<string> | null>();
  const note = (file: string, list: string | undefined) => {
    const known = uses.get(file);
    if (list === undefined) uses.set(file, null);
    else if (known !== null) uses.set(file, new Set([...(known ?? []), ...namesIn(list, 0)]));
  };
  for (const [file, text] of texts) {
    const at = (place: string) => normalize(join(dirname(file), place));
    for (const [, list, all, place = ""] of text.matchAll(IMPORTED))
      note(at(place), all === undefined ? list : undefined);
    for (const [, before, place = "", member, then] of text.matchAll(LOADED)) note(at(place), before ?? member ?? then);
  }
  return uses;
}

test("every export is imported somewhere", () => {
  const uses = usesOf();
  const unused = [...texts].flatMap(([file, text]) => {
    const used = uses.get(file);
    if (used === null || LOADED_BY_NAME.test(file)) return [];
    return exportsOf(text)
      .filter((name) => !used?.has(name))
      .map((name) => `${file}: ${name}`);
  });
  assert.deepEqual(unused, []);
});

test("an exported type has a name that no other one has", () => {
  const owners = new Map<string, string[]>();
  for (const [file, text] of texts) {
    // The page is a program of its own.
    if (!file.startsWith("src/") || file.startsWith("src/admin/page/")) continue;
    // The drivers have the same files, in which the same things have the same names.
    const owner = file.replace(/^src\/(?:sqlite|postgres)\/.*/, "src/sqlite, src/postgres");
    for (const [, name = ""] of text.matchAll(/^export (?:interface|type|class) ([A-Za-z_$][\w$]*)/gm))
      if (!owners.get(name)?.includes(owner)) owners.set(name, [...(owners.get(name) ?? []), owner]);
  }
  assert.deepEqual(
    [...owners].filter(([, files]) => files.length > 1),
    [],
  );
});
