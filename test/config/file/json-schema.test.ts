import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { EXAMPLE } from "../../../scripts/docs/configuration-file.ts";
import { configJsonSchema } from "../../../src/config/file/json-schema.ts";
import { parseYaml } from "../../../src/config/file/yaml-document.ts";
import { dir, ENVIRONMENT, read } from "../../helpers/config-file.ts";

interface Schema {
  $ref?: string;
  allOf?: Schema[];
  definitions?: Record<string, Schema>;
  type?: string | string[];
  minProperties?: number;
  enum?: unknown[];
  pattern?: string;
  anyOf?: Schema[];
  required?: string[];
  properties?: Record<string, Schema>;
  propertyNames?: Schema;
  additionalProperties?: Schema | false;
  items?: Schema;
  minItems?: number;
  description?: string;
}

const schema: Schema = configJsonSchema();
const { definitions = {} } = schema;

function typeOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

/** Whether a schema accepts a value. It knows the keywords that the schema of the file uses. */
function accepts(schema: Schema, value: unknown): boolean {
  if (schema.$ref) return accepts(definitions[schema.$ref.replace("#/definitions/", "")] ?? {}, value);
  if (schema.allOf && !schema.allOf.every((part) => accepts(part, value))) return false;
  if (schema.anyOf && !schema.anyOf.some((option) => accepts(option, value))) return false;
  if (schema.type !== undefined && ![schema.type].flat().includes(typeOf(value))) return false;
  if (schema.enum && !schema.enum.includes(value)) return false;
  if (typeof value === "string") return schema.pattern === undefined || new RegExp(schema.pattern).test(value);
  if (Array.isArray(value)) {
    const { items, minItems = 0 } = schema;
    return value.length >= minItems && (!items || value.every((item) => accepts(items, item)));
  }
  if (typeof value !== "object" || value === null) return true;
  const { required = [], properties = {}, propertyNames = {}, additionalProperties = {} } = schema;
  return (
    Object.keys(value).length >= (schema.minProperties ?? 0) &&
    required.every((name) => name in value) &&
    Object.entries(value).every(([name, member]) => {
      const inner = properties[name] ?? additionalProperties;
      return inner !== false && accepts(propertyNames, name) && accepts(inner, member);
    })
  );
}

const acceptsFile = (yaml: string) => accepts(schema, parseYaml(yaml).value);

test("the example of the reference is valid, and the JSON Schema accepts it", () => {
  for (const folder of ["secrets", "handlers"]) mkdirSync(join(dir, folder));
  writeFileSync(join(dir, "secrets/stripe_old"), "an old secret of the tests");
  writeFileSync(join(dir, "handlers/code.mjs"), "export default async () => {};\n");
  const { SECRET } = ENVIRONMENT;
  const environment = {
    STRIPE_SECRET: SECRET,
    GITHUB_SECRET: SECRET,
    SHOP_SECRET: SECRET,
    BILLING_SECRET: SECRET,
    ALERT_SECRET: SECRET,
    GRAFANA_SECRET: SECRET,
  };
  assert.equal(read(EXAMPLE, environment)?.routes?.length, 4);
  assert.equal(acceptsFile(EXAMPLE), true);
});

suite("the JSON Schema", () => {
  for (const [route, isAccepted] of [
    ["{ name: a, log: {} }", true],
    ["{ name: a, to: http://h/, source: [a, b], types: push, concurrency: '7' }", true],
    ["{ name: a, retry: { delays: [1s], giveUpOn: [404, '!408'] }, when: { a: [1, null], b.c: true } }", true],
    ["{ log: {} }", false],
    ["{ name: A }", false],
    ["{ name: a, unknown: 1 }", false],
    ["{ name: a, http: {} }", false],
    ["{ name: a, exec: { command: ls } }", false],
    ["{ name: a, whenStuck: wait }", false],
    ["{ name: a, when: { a..b: 1 } }", false],
    ["{ name: a, when: { a: { gte: 1000, lt: 5000, not: [1] }, 'header:x-a': { in: [a] } } }", true],
    [
      "{ name: a, when: { any: [ { a: 1 }, { all: [ { b: { exists: false } } ] } ], not: { c: { not: { eq: 1 } } } } }",
      true,
    ],
    ["{ name: a, when: { a: { gte: 1, lesser: 2 } } }", false],
    ["{ name: a, when: { a: { exists: 1 } } }", false],
    ["{ name: a, when: { any: [ { a: { startsWith: 1 } } ] } }", false],
    ["{ name: a, when: { a: {} } }", false],
    ["{ name: a, to: http://h/, shadow: { of: b, ignore: [a.*.b] } }", true],
    ["{ name: a, to: http://h/, shadow: { ignore: [a] } }", false],
  ] as const) {
    test(`${isAccepted ? "accepts" : "refuses"} ${route}`, () =>
      assert.equal(acceptsFile(`routes:\n  - ${route}\n`), isAccepted));
  }

  test("describes every key", () => {
    const visit = ({ properties, items, additionalProperties }: Schema, path: string): void => {
      for (const [name, member] of Object.entries(properties ?? {})) {
        assert.match(member.description ?? "", /\.$/, `${path}.${name}`);
        visit(member, `${path}.${name}`);
      }
      if (items) visit(items, path);
      if (additionalProperties) visit(additionalProperties, path);
    };
    visit(schema, "");
    for (const definition of Object.values(definitions)) visit(definition, "when");
  });
});
