import * as v from "valibot";
import { isObject } from "../../lib/json.ts";
import { nearest } from "../../lib/nearest.ts";
import { printable } from "../../lib/printable.ts";
import type { PathFault, Reading } from "./reading.ts";
import type { Path } from "./yaml-document.ts";

/** The keys of a map as they are used. The value of a wrong one is undefined. */
export type Known<Entries extends v.ObjectEntries> = {
  [Name in keyof Entries]?: v.InferOutput<Entries[Name]> | undefined;
};

/** The keys of a map in which nothing is wrong. */
export type Whole<Entries extends v.ObjectEntries> = v.InferOutput<v.StrictObjectSchema<Entries, undefined>>;

interface Steps<Entries extends v.ObjectEntries, Output> {
  /** Checks keys against each other, also if some are wrong. */
  check?: (entry: Known<Entries>, reading: Reading) => void;
  /** Makes what is used, if nothing is wrong. Null with a fault. By default the keys as they are. */
  read?: (entry: Whole<Entries>, reading: Reading) => Output | null;
}

/** A map with known keys. Each key that is wrong or unknown is a fault, so that none hides another. */
export function map<const Entries extends v.ObjectEntries, Output = Whole<Entries>>(
  entries: Entries,
  expectation?: string,
  { check, read }: Steps<Entries, Output> = {},
): v.GenericSchema<v.InferInput<v.StrictObjectSchema<Entries, undefined>>, Output> {
  const names = Object.keys(entries);
  const expected = names.length === 0 ? "expected none" : `expected one of ${names.join(", ")}`;
  return withRun(v.strictObject(entries, expectation), isObject, (given, reading) => {
    for (const name of Object.keys(given).filter((name) => !names.includes(name)))
      reading.at(name).unknownKey(`unknown key, ${expected}${hintOf(name, names)}`);
    const entry: Known<Entries> = {};
    for (const name of names as (keyof Entries & string)[]) {
      const value = readValue(given[name], entries[name] as Entries[typeof name], reading.at(name));
      if (name in given || value !== undefined) entry[name] = value;
    }
    check?.(entry, reading);
    return read === undefined || reading.isWrong ? entry : read(entry as Whole<Entries>, reading);
  });
}

/** A map with any names of a form. Valibot would leave out names such as `constructor`. */
export function mapOf<const Member extends v.GenericSchema>(
  name: v.GenericSchema<string, string>,
  member: Member,
  expectation?: string,
  check?: (members: Readonly<Record<string, v.InferOutput<Member> | undefined>>, reading: Reading) => void,
): v.GenericSchema<Record<string, v.InferInput<Member>>, Record<string, v.InferOutput<Member>>> {
  return withRun(v.record(name, member, expectation), isObject, (given, reading) => {
    const members = Object.entries(given).map(([key, value]) => {
      const below = reading.at(key);
      for (const { message } of faultsOf(v.safeParse(name, key).issues ?? [], below.path)) below.fault(message, "key");
      return [key, readValue(value, member, below)] as const;
    });
    const map = Object.fromEntries(members);
    check?.(map, reading);
    return map;
  });
}

/** A list, of any length. */
export function list<const Item extends v.GenericSchema>(
  item: Item,
  expectation?: string,
): v.GenericSchema<v.InferInput<Item>[], v.InferOutput<Item>[]> {
  return withRun(
    v.array(item, expectation),
    (value): value is unknown[] => Array.isArray(value),
    (given, reading) => given.map((one, index) => readValue(one, item, reading.at(index))),
  );
}

/** Makes what is used of a value at its place. Null with a fault. */
export function becomes<Input, Output>(
  read: (value: Input, reading: Reading) => Output | null,
): v.RawTransformAction<Input, Output> {
  return {
    ...v.rawTransform<Input, Output>(({ NEVER }) => NEVER),
    "~run": runOf(read) as v.RawTransformAction<Input, Output>["~run"],
  };
}

/** Reads a value by its schema. Undefined, with faults, if it is wrong. */
export function readValue<const Of extends Schema>(
  value: unknown,
  schema: Of,
  reading: Reading,
): v.InferOutput<Of> | undefined {
  const { issues, value: output } = schema["~run"]({ value }, { reading } as Config);
  if (issues === undefined) return output as v.InferOutput<Of>;
  reading.faults.push(...faultsOf(issues, reading.path));
  return undefined;
}

type Schema = v.GenericSchema;

/** Valibot hands it to all that a schema consists of. */
type Config = v.Config<v.BaseIssue<unknown>> & { reading: Reading };

type Dataset = v.OutputDataset<unknown, v.BaseIssue<unknown>>;

/** The schema with another way to read a value of the right type. */
function withRun<Value, Result extends Schema>(
  schema: Schema,
  isRight: (value: unknown) => value is Value,
  read: (value: Value, reading: Reading) => unknown,
): Result {
  const run = runOf(read);
  return {
    ...schema,
    "~run"(dataset: Dataset, config: Config) {
      if (isRight(dataset.value)) return run(dataset, config);
      v._addIssue(schema as v.StrictObjectSchema<v.ObjectEntries, string | undefined>, "type", dataset, config);
      return dataset;
    },
  } as unknown as Result;
}

/** Runs `read` at the place of a value. Its faults become issues, which know their places. */
function runOf<Value>(read: (value: Value, reading: Reading) => unknown) {
  return (dataset: Dataset, config: v.Config<v.BaseIssue<unknown>>): Dataset => {
    const reading = (config as Config).reading.alone();
    const value = read(dataset.value as Value, reading);
    const [issue, ...others] = [...(dataset.issues ?? []), ...reading.faults.map(issueOf)];
    return issue === undefined ? { typed: true, value } : { typed: false, value, issues: [issue, ...others] };
  };
}

const FAULT = "fault";

function issueOf(fault: PathFault): v.BaseIssue<unknown> {
  return { kind: "transformation", type: FAULT, input: fault, expected: null, received: "", message: fault.message };
}

/** The faults of the issues that a schema found at a path. Private values are not shown. */
function faultsOf(issues: readonly v.BaseIssue<unknown>[], base: Path): PathFault[] {
  return issues.flatMap((issue): PathFault[] => {
    if (issue.type === FAULT) return [issue.input as PathFault];
    const path = [...base, ...(issue.path ?? []).map(({ key }) => key as string | number)];
    // A list may be right where one of its items is not.
    const inner = issue.issues?.filter((below) => below.type === FAULT || below.path !== undefined) ?? [];
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
  if (lengthOfSecretPath(path) !== null && (typeof value !== "object" || isObject(value))) return "a literal value";
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  if (isObject(value)) return "a map";
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
function lengthOfSecretPath(path: Path): number | null {
  const [top, , key, below, inner] = path;
  switch (top) {
    case "clients":
      return key === "secret" ? 3 : null;
    case "people":
      return key === "passwordHash" ? 3 : null;
    case "sources":
      return lengthInSource(key, below);
    case "alerts":
      if (below === "secret" || below === "token") return 4;
      return below === "email" && inner === "password" ? 5 : null;
    case "routes":
      if (key !== "http") return null;
      return below === "headers" ? 5 : below === "secret" ? 4 : null;
    default:
      return null;
  }
}

function lengthInSource(key: Path[number] | undefined, below: Path[number] | undefined): number | null {
  if (key === "secrets") return typeof below === "number" ? 4 : 3;
  if (key === "handshake") return below === undefined ? 3 : 4;
  return (key === "catchUp" || key === "renew") && below === "token" ? 4 : null;
}

const SHOWN_OF_TARGETS = ["timeout", "method", "body", "signWith"];
const SHOWN_OF_MAIL = /^(?:port|from|to)$/;

/**
 * Whether a path is that of a URL, a command or a key, or of text in its place. These may have passwords, or be
 * private.
 */
function isPrivate(path: Path): boolean {
  const [top, , key, below, inner] = path;
  const isShownOfMail = below === "email" && SHOWN_OF_MAIL.test(String(inner));
  if (top === "alerts") return path[1] === "notify" && below !== "name" && !isShownOfMail;
  if (top === "sources")
    return (
      key === "keys" ||
      key === "options" ||
      key === "catchUp" ||
      key === "renew" ||
      (key === "verify" && below === "roots")
    );
  if (top === "clients") return key === "url" || key === "logout";
  if (top !== "routes") return false;
  return (
    path.length <= 2 ||
    key === "to" ||
    ((key === "http" || key === "exec") && !SHOWN_OF_TARGETS.some((name) => name === below))
  );
}
