import { parseYaml } from "../../config/file/yaml-document.ts";
import { OperatorError } from "../../errors.ts";
import { isObject } from "../../lib/json.ts";
import { type Draft, note } from "./draft.ts";

/** An option of another product, from a file, the environment or the command line. */
interface Option {
  /** As it is written, such as `COOKIE_DOMAIN` or `cookie-domain`. */
  name: string;
  /** Its name, and its line. */
  what: string;
  values: string[];
}

/** What a file has for a product. */
export interface Found {
  options: Option[];
  /** Labels of containers. Null: the value is not in the file. */
  labels: Record<string, string | null>[];
  /** The documents of a YAML file. */
  documents: unknown[];
}

/**
 * Reads options from lines `name = value` (`.env`, INI, TOML with texts and lists), or from YAML of containers.
 * `product` is a part of the name of its image. Throws {@link OperatorError}.
 */
export function readOptions(text: string, product: RegExp): Found {
  if (ASSIGNMENT.test(firstLine(text))) return { options: optionsInLines(text), labels: [], documents: [] };
  const documents = readYamlDocuments(text);
  const found: Found = { options: [], labels: [], documents };
  for (const document of documents) {
    const isCompose = isObject(document) && isObject(document.services);
    collect(document, "", { found, product, readValue: isCompose ? interpolated : textOf }, 0);
  }
  return found;
}

const ASSIGNMENT = /^(?:export\s+|--)?([A-Za-z_][\w.-]*)\s*=([\s\S]*)$/;
const NO_OPTION = /^(?:$|[#;]|\[)/;

const firstLine = (text: string) =>
  text
    .split("\n", 10_000)
    .map((line) => line.trim())
    .find((line) => !NO_OPTION.test(line)) ?? "";

function optionsInLines(text: string): Option[] {
  const options: Option[] = [];
  const lines = text.split("\n").map((line) => line.trim());
  for (let index = 0; index < lines.length; index++) {
    const [, name, given = ""] = ASSIGNMENT.exec(lines[index] ?? "") ?? [];
    const rest = given.trimStart();
    if (name === undefined || NO_OPTION.test(lines[index] ?? "")) continue;
    const what = `${name} (line ${index + 1})`;
    if (!rest.startsWith("[")) {
      const value = textOf(singleValue(rest));
      options.push({ name, what, values: value === null ? [] : [value] });
      continue;
    }
    const values: string[] = [];
    let isOpen = addItems(values, rest.slice(1));
    while (isOpen && index + 1 < lines.length) isOpen = addItems(values, lines[++index] ?? "");
    options.push({ name, what, values });
  }
  return options;
}

/** Quoted text, or what precedes a comment. */
function singleValue(text: string): string {
  const [, double, single] = /^(?:"((?:[^"\\]|\\.)*)"|'([^']*)')/.exec(text) ?? [];
  return double === undefined ? (single ?? text.split(/\s#/, 1)[0]?.trim() ?? "") : unescaped(double);
}

const unescaped = (text: string) => text.replace(/\\(["\\$])/g, "$1");

/** Adds the items of a list in a line. Whether the list goes on in the next one. */
function addItems(values: string[], line: string): boolean {
  for (const [, double, single, bare, end] of line.matchAll(
    /"((?:[^"\\]|\\.?)*)(?:"|$)|'([^']*)(?:'|$)|([^\s,"'\]#]+)|(\])|#.*/g,
  )) {
    if (end !== undefined) return false;
    const value = double === undefined ? (single ?? bare) : unescaped(double);
    if (value !== undefined) values.push(value);
  }
  return true;
}

/** Reads the documents of a YAML file, or of JSON. Throws {@link OperatorError}. */
export function readYamlDocuments(text: string): unknown[] {
  let before = 0;
  return text.split(/^---[ \t]*\r?$/m).flatMap((part) => {
    const document = parsed(part);
    const [fault] = document.faults;
    if (fault) {
      const line = before + document.positionOf(fault.offset).line;
      const remedy = text.includes("{{") ? "give the file that its template makes" : "correct the file";
      throw new OperatorError({ found: `Line ${line} of the file is no YAML: ${fault.message}`, remedy });
    }
    before += part.split("\n").length - 1;
    return document.value === null || document.value === undefined ? [] : [document.value];
  });
}

function parsed(text: string) {
  try {
    return parseYaml(text);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new OperatorError("The file is nested too deeply");
  }
}

interface Collecting {
  found: Found;
  product: RegExp;
  /** The text of a value; null if it is not in the file. */
  readValue(value: unknown): string | null;
}

const MAX_DEPTH = 100;

/** Collects the options of the product's containers, and the labels of all. */
function collect(value: unknown, key: string, collecting: Collecting, depth: number): void {
  if (depth > MAX_DEPTH) return;
  if (Array.isArray(value)) for (const item of value) collect(item, key, collecting, depth + 1);
  if (!isObject(value)) return;
  if (isOf(value, key, collecting.product))
    for (const option of optionsOf(value, collecting)) collecting.found.options.push(option);
  if (value.labels !== undefined)
    collecting.found.labels.push(Object.fromEntries(pairsIn(value.labels, collecting.readValue)));
  for (const [name, below] of Object.entries(value)) collect(below, name, collecting, depth + 1);
}

function isOf(map: Record<string, unknown>, key: string, product: RegExp): boolean {
  const image = isObject(map.image) ? map.image.repository : map.image;
  const names =
    typeof image === "string" && !image.startsWith("$") ? [image] : [image, key, map.name, map.container_name];
  return names.some((name) => typeof name === "string" && product.test(name));
}

function optionsOf(map: Record<string, unknown>, { readValue }: Collecting): Option[] {
  const variables = [map.environment, map.env].flatMap((variables) => pairsIn(variables, readValue));
  const words = [map.command, map.args].flatMap(wordsOf);
  const files: PairOfTexts[] = [map.env_file, map.envFrom].flatMap((from) =>
    from === undefined ? [] : [["env_file", "set"]],
  );
  return [...variables, ...flagsIn(words, readValue), ...files].map(([name, value]) => ({
    name,
    what: name,
    values: value === null ? [] : [value],
  }));
}

type PairOfTexts = [name: string, value: string | null];

/** Variables or labels as a map, as texts `name=value`, or as maps with `name` and `value`. */
function pairsIn(value: unknown, readValue: Collecting["readValue"]): PairOfTexts[] {
  if (isObject(value)) return Object.entries(value).map(([name, text]) => [name, readValue(text)]);
  if (!Array.isArray(value)) return [];
  return value.flatMap((item): PairOfTexts[] => {
    if (isObject(item)) return typeof item.name === "string" ? [[item.name, readValue(item.value)]] : [];
    const [name = "", ...rest] = String(item).split("=");
    return [[name, rest.length === 0 ? null : readValue(rest.join("="))]];
  });
}

// With an end of the text for a missing quote, a long text is read once.
const QUOTED = /"((?:[^"\\]|\\[\s\S]?)*)(?:"|$)|'([^']*)(?:'|$)/g;
const WORD = new RegExp(`(?:[^\\s"']|${QUOTED.source})+`, "g");

function wordsOf(command: unknown): string[] {
  if (Array.isArray(command)) return command.map((word) => scalarOf(word) ?? "");
  if (typeof command !== "string") return [];
  const words = command.match(WORD) ?? [];
  return words.map((word) => word.replace(QUOTED, "$1$2"));
}

/** The name of a flag may have a variable, and its value may be one. */
function flagsIn(words: readonly string[], readValue: Collecting["readValue"]): PairOfTexts[] {
  return words.flatMap((word, index): PairOfTexts[] => {
    const [, name = "", value] = /^--?([A-Za-z][\w.${}-]*)(?:=([\s\S]*))?$/.exec(word) ?? [];
    if (name === "") return [];
    const next = words[index + 1];
    if (value !== undefined) return [[name, readValue(value.replace(/^"(.*)"$/s, "$1"))]];
    return [[name, next === undefined || next.startsWith("-") ? "true" : readValue(next)]];
  });
}

const scalarOf = (value: unknown) => (["string", "number", "boolean"].includes(typeof value) ? String(value) : null);

/** The text of a value. Null if it has a variable such as `${NAME}`. */
function textOf(value: unknown): string | null {
  const text = scalarOf(value);
  return text?.includes("${") ? null : text;
}

/** The text of a value of Docker Compose. Null if it has a variable without a default. */
function interpolated(value: unknown): string | null {
  let isKnown = scalarOf(value) !== null;
  const text = (scalarOf(value) ?? "").replace(/\$(?:\$|\{([^{}$]*)\}|[A-Za-z_{])/g, (variable, inner = "") => {
    if (variable === "$$") return "$";
    const [, standard] = /^\w+:?-(.*)$/s.exec(inner) ?? [];
    isKnown &&= standard !== undefined;
    return standard ?? "";
  });
  return isKnown ? text : null;
}

/** Options by their names, each of which is used once. */
export interface GivenOptions {
  /** The option with one of these names. Undefined if there is none, it is empty, or its value is not in the file. */
  take(...names: string[]): Option | undefined;
  /** Those whose names match, by their names. */
  takeAll(name: RegExp): Option[];
  /** Notes all others, by the first rule for their names. What needs no counterpart has an empty text. */
  noteRest(rules: readonly (readonly [name: RegExp, instead: string])[]): void;
}

export const UNRESOLVED = "its value is not in this file: import what docker compose config prints, or set it by hand";

/** `nameOf` makes one name of the ways to write it. */
export function createOptions(
  draft: Draft,
  options: readonly Option[],
  nameOf: (name: string) => string,
): GivenOptions {
  const left = Map.groupBy(options, ({ name }) => nameOf(name));
  const use = (name: string): Option[] => {
    const found = left.get(name) ?? [];
    left.delete(name);
    for (const { what } of found.filter(({ values }) => values.length === 0)) note(draft, what, UNRESOLVED);
    const values = found.flatMap((option) => option.values).filter((value) => value !== "");
    return values.length === 0 ? [] : [{ name: found[0]?.name ?? name, what: found[0]?.what ?? name, values }];
  };
  return {
    take: (...names) => names.flatMap(use)[0],
    takeAll: (name) => [...left.keys()].filter((key) => name.test(key)).flatMap(use),
    noteRest(rules) {
      for (const [key, found] of left) {
        const [, instead = "has no counterpart that is known"] = rules.find(([name]) => name.test(key)) ?? [];
        for (const { what, values } of found) if (instead !== "" && values[0] !== "") note(draft, what, instead);
      }
    },
  };
}

/** The items of a list with commas, or of several values. */
export const itemsOf = (option: Option | undefined) =>
  (option?.values ?? [])
    .flatMap((value) => value.split(","))
    .map((item) => item.trim())
    .filter((item) => item !== "");
