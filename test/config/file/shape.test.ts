import assert from "node:assert/strict";
import { test } from "node:test";
import type * as v from "valibot";
import { FileSchema } from "../../../src/config/file/config-file.ts";
import { shown } from "../../../src/config/file/shape.ts";
import type { Path } from "../../../src/config/file/yaml-document.ts";

/** What a schema may have, by its type. */
interface Parts {
  type?: string;
  message?: unknown;
  description?: string;
  expects?: string | null;
  pipe?: readonly Parts[];
  wrapped?: Parts;
  options?: readonly (Parts | string)[];
  item?: Parts;
  value?: Parts;
  entries?: Record<string, Parts>;
}

const VALUE = "a-value-of-the-file";

// They speak of URLs, and take none, or addresses as well.
const SHOWN = [
  "sources.name.allowedAddresses",
  "sources.name.allowedAddresses.0",
  "sources.name.verify.signed",
  "sources.name.verify.audience",
  "sources.name.path",
];

/** The values of a schema: the path of each, with the texts of the schemas on the way to it. */
function valuesOf(schema: Parts, path: Path, above: readonly string[] = []): { path: Path; texts: string }[] {
  const { pipe = [], wrapped, options = [], item, value, entries } = schema;
  const described = [...pipe, schema].flatMap(({ message, description }) => [message, description]);
  const own = described.filter((text) => typeof text === "string");
  const texts = entries ? own : [...above, ...own];
  const inner = [wrapped, ...options, ...pipe].filter((part) => typeof part === "object" && part !== schema) as Parts[];
  return [
    { path, texts: texts.join(" ") },
    ...inner.flatMap((part) => valuesOf(part, path, texts)),
    ...(item ? valuesOf(item, [...path, 0], texts) : []),
    ...(value && schema.type === "record" ? valuesOf(value, [...path, "name"], texts) : []),
    ...Object.entries(entries ?? {}).flatMap(([name, entry]) => valuesOf(entry, [...path, name])),
  ];
}

test("a fault shows no value of a key that takes a URL, a program, or a secret", () => {
  const values = valuesOf(FileSchema as v.GenericSchema as Parts, []);
  const keys = values.filter(({ texts }) => /\bURL\b|env:NAME|\bprogram\b/i.test(texts)).map(({ path }) => path);
  assert.ok(keys.length > 20);
  const inFaults = keys.filter((path) => shown(VALUE, path).includes(VALUE)).map((path) => path.join("."));
  assert.deepEqual(new Set(inFaults), new Set(SHOWN));
});

test("a fault shows no URL, whatever the key", () => {
  assert.equal(shown("url:https://ada:secret@lists.test/", ["sources", "name", "allowedAddresses"]), "text");
});
