import * as v from "valibot";
import { nearest } from "../../lib/nearest.ts";
import { printable } from "../../lib/printable.ts";
import type { PathFault, Reading } from "./reading.ts";
import type { Path } from "./yaml-document.ts";

/** The value of a schema, whose keys may all be missing. That of a key with a fault is undefined. */
export type Known<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { [Name in keyof T]?: Known<T[Name]> | undefined }
    : T;

/**
 * Reads a value by its schema. Adds a fault for each wrong or unknown key, so that none hides another. Undefined if the
 * value itself is wrong. Checks on a map, or on a list of maps, are not made.
 */
export function readShape<const Schema extends v.GenericSchema>(value: unknown, schema: Schema, reading: Reading) {
  return knownOf(value, schema, reading) as Known<v.InferOutput<Schema>> | undefined;
}

function knownOf(value: unknown, schema: v.GenericSchema, reading: Reading): unknown {
  const { entries, key, value: member, item } = partsOf(schema);
  if (entries && isMap(value)) return knownEntries(value, entries, reading);
  if (key && member && isMap(value)) return knownMembers(value, key, member, reading);
  if (item && partsOf(item).entries && Array.isArray(value))
    return value.map((one, index) => knownOf(one, item, reading.at(index)));
  // Valibot takes a list for a map of numbers.
  const isList = Array.isArray(value) && (entries ?? key) !== undefined;
  const { success, output, issues = [] } = v.safeParse(schema, isList ? null : value);
  reading.faults.push(...faultsOf(isList ? issues.map((issue) => ({ ...issue, input: value })) : issues, reading.path));
  return success ? output : undefined;
}

/** The keys that a schema names. */
function knownEntries(map: Record<string, unknown>, entries: Record<string, v.GenericSchema>, reading: Reading) {
  const names = Object.keys(entries);
  const expected = names.length === 0 ? "expected none" : `expected one of ${names.join(", ")}`;
  for (const name of Object.keys(map).filter((name) => !names.includes(name)))
    reading.at(name).fault(`unknown key, ${expected}${hintOf(name, names)}`, "key");
  const members = Object.entries(entries).map(
    ([name, member]) => [name, knownOf(map[name], member, reading.at(name))] as const,
  );
  return Object.fromEntries(members.filter(([name, known]) => name in map || known !== undefined));
}

/** The members of a map with any names. Valibot would leave out names such as `constructor`. */
function knownMembers(map: Record<string, unknown>, names: v.GenericSchema, member: v.GenericSchema, reading: Reading) {
  const members: Record<string, unknown> = Object.create(null);
  for (const [name, value] of Object.entries(map)) {
    const below = reading.at(name);
    const { issues = [] } = v.safeParse(names, name);
    reading.faults.push(...faultsOf(issues, below.path).map((fault) => ({ ...fault, at: "key" as const })));
    members[name] = knownOf(value, member, below);
  }
  return members;
}

/** What the schema of a map or a list is made of. */
interface Parts {
  entries?: Record<string, v.GenericSchema>;
  key?: v.GenericSchema;
  value?: v.GenericSchema;
  item?: v.GenericSchema;
}

/** The parts of a schema, of the one that it wraps, or of the map that is an alternative in it. */
function partsOf(schema: object): Parts {
  const { wrapped, options = [] } = schema as { wrapped?: object; options?: readonly unknown[] };
  if (wrapped) return partsOf(wrapped);
  return options.find((option) => isMap(option) && ("entries" in option || "key" in option)) ?? schema;
}

/** The faults of the issues that a schema found at a path. Private values are not shown. */
function faultsOf(issues: readonly v.BaseIssue<unknown>[], base: Path): PathFault[] {
  return issues.flatMap((issue): PathFault[] => {
    const path = [...base, ...(issue.path ?? []).map(({ key }) => key as string | number)];
    // A list may be right where one of its items is not.
    const inner = issue.issues?.filter((below) => below.path !== undefined) ?? [];
    if (inner.length > 0) return faultsOf(inner, path);
    const expected = issue.message.startsWith("expected ") ? issue.message : expectationOf(issue);
    if (issue.received === "undefined") return [{ path, message: `missing, ${expected}` }];
    return [{ path, message: `found ${shown(issue.input, path)}, ${expected}${hintFor(issue)}` }];
  });
}

/** The word of a list that was probably meant. */
function hintFor({ input, message }: v.BaseIssue<unknown>): string {
  const words = message.startsWith("expected one of ") ? message.slice("expected one of ".length).split(", ") : [];
  return typeof input === "string" ? hintOf(input, words) : "";
}

/** Names the known word that was probably meant. */
export function hintOf(word: string, known: readonly string[]): string {
  const meant = nearest(word, known);
  return meant === undefined ? "" : ` (did you mean ${meant}?)`;
}

function expectationOf({ expected }: v.BaseIssue<unknown>): string {
  if (expected === "Array") return "expected a list";
  return expected === "Object" ? "expected a map" : "expected text";
}

const MAX_FOUND_LENGTH = 40;

/** A value for a message. A private one is not shown. */
export function shown(value: unknown, path: Path): string {
  if (lengthOfSecretPath(path) !== null && (typeof value !== "object" || isMap(value))) return "a literal value";
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  if (isMap(value)) return "a map";
  if (value !== null && (isPrivate(path) || isUrl(value)))
    return typeof value === "string" ? "text" : `a ${typeof value}`;
  const text = printable(String(value));
  const cut = text.length > MAX_FOUND_LENGTH ? `${text.slice(0, MAX_FOUND_LENGTH)}…` : text;
  return typeof value === "string" ? `"${cut}"` : cut;
}

/** Whether a value has a URL, which may have a password. */
const isUrl = (value: unknown) => typeof value === "string" && value.includes("://");

/** The path of a key as it is shown, with dots. A key below a secret may be a literal secret. */
export function keyText(path: Path): string {
  return path.slice(0, lengthOfSecretPath(path) ?? path.length).join(".");
}

/** The length of the path of the secret that a path is at or below; null if there is none. */
function lengthOfSecretPath([top, , key, below]: Path): number | null {
  if (top === "sources" && key === "secrets") return typeof below === "number" ? 4 : 3;
  if (top === "sources" && key === "handshake") return below === undefined ? 3 : 4;
  if (top === "sources" && (key === "catchUp" || key === "renew") && below === "token") return 4;
  if (top === "alerts" && (below === "secret" || below === "token")) return 4;
  if (top === "routes" && key === "http" && below === "headers") return 5;
  return top === "routes" && key === "http" && below === "secret" ? 4 : null;
}

const SHOWN_OF_TARGETS = ["timeout", "method", "body", "signWith"];

/**
 * Whether a path is that of a URL, a command or a key, or of text in its place. These may have passwords, or be
 * private.
 */
function isPrivate(path: Path): boolean {
  const [top, , key, below] = path;
  if (top === "alerts") return path[1] === "notify" && below !== "name";
  if (top === "sources")
    return (
      key === "keys" ||
      key === "options" ||
      key === "catchUp" ||
      key === "renew" ||
      (key === "verify" && below === "roots")
    );
  if (top !== "routes") return false;
  return (
    path.length <= 2 ||
    key === "to" ||
    ((key === "http" || key === "exec") && !SHOWN_OF_TARGETS.some((name) => name === below))
  );
}

/** Whether a value of the file is a map. */
export function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
