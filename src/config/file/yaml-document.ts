import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseAllDocuments,
  stringify,
  type YAMLMap,
} from "yaml";

/** A path from the top of the file: names of keys and numbers of items. */
export type Path = readonly (string | number)[];

/** Something wrong at an offset of the file. */
interface YamlFault {
  offset: number;
  path: Path;
  message: string;
}

/** A YAML file as plain values. Maps have no prototype. */
export interface YamlDocument {
  /** Undefined if the file has syntax errors or wrong aliases. */
  value: unknown;
  /** Syntax errors, doubled keys and wrong aliases. */
  faults: YamlFault[];
  /** The offset of the value at a path, or of its key; of the nearest value above it if it is missing. */
  offsetOf(path: Path, at?: "value" | "key"): number;
  /** The text of the number at a path, as it is written. Undefined for anything else. */
  numberAt(path: Path): string | undefined;
  /** Line and column, from 1. */
  positionOf(offset: number): { line: number; column: number };
}

// A value that aliases repeat is made once, but whoever reads the file sees it at each alias.
const MAX_ALIASED_NODES = 1_000_000;

// The library's own check for doubled keys takes quadratic time.
const OPTIONS = { version: "1.2", stringKeys: true, uniqueKeys: false, prettyErrors: false } as const;

/** Parses the text of a YAML 1.2 file with one document. */
export function parseYaml(text: string): YamlDocument {
  const lineCounter = new LineCounter();
  const documents = parseAllDocuments(text, { ...OPTIONS, lineCounter });
  const [document, second] = "empty" in documents ? [] : documents;
  const root = document?.contents ?? null;
  const errors = [...(document?.errors ?? []), ...(document?.warnings ?? [])];
  // What follows another error may look like a key.
  const own = errors.filter(({ code }) => code !== "NON_STRING_KEY");
  const faults = (own.length > 0 ? own : errors).map(
    (error): YamlFault => ({ offset: error.pos[0], path: [], message: messageOf(error) }),
  );
  if (second) {
    faults.push({ offset: startOf(second.contents), path: [], message: "found a second document, expected one" });
  }
  const positionOf = (offset: number) => {
    const { line, col } = lineCounter.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  const targets = new Map<Alias, unknown>();
  const value = faults.length > 0 ? undefined : toPlain(root, targets, faults, (offset) => positionOf(offset).line);
  return {
    value,
    faults,
    positionOf,
    offsetOf: (path, at) => offsetAt(root, path, at, targets),
    numberAt: (path) => numberAt(root, path, targets),
  };
}

function numberAt(root: unknown, path: Path, targets: Map<Alias, unknown>): string | undefined {
  const resolved = (node: unknown) => (isAlias(node) ? targets.get(node) : node);
  let node = resolved(root);
  for (const name of path) {
    const below = isSeq(node) ? node.items[Number(name)] : isMap(node) ? pairOf(node, String(name))?.value : undefined;
    node = resolved(below);
  }
  return isScalar(node) && typeof node.value === "number" ? node.source : undefined;
}

function offsetAt(root: unknown, path: Path, at: "value" | "key" = "value", targets: Map<Alias, unknown>): number {
  let node = root;
  for (const [index, name] of path.entries()) {
    const parent = isAlias(node) ? targets.get(node) : node;
    const item = isSeq(parent) ? parent.items[Number(name)] : undefined;
    const pair = isMap(parent) ? pairOf(parent, String(name)) : undefined;
    if (pair && at === "key" && index === path.length - 1) return startOf(pair.key);
    // A key without a value is at the key.
    const below = item ?? pair?.value ?? pair?.key;
    if (below === undefined) break;
    node = below;
  }
  return startOf(node);
}

interface Anchor {
  node: unknown;
  value: unknown;
  /** How many nodes it has, with those that its aliases repeat. */
  size: number;
}

/**
 * The values of a document; undefined if an alias is wrong. Adds its faults, and the node that each alias stands for.
 */
function toPlain(
  root: unknown,
  targets: Map<Alias, unknown>,
  faults: YamlFault[],
  lineOf: (offset: number) => number,
): unknown {
  /** An anchor may be set again: an alias stands for the last one before it. Null while its own value is read. */
  const anchors = new Map<string, Anchor | null>();
  let size = 0;
  let aliased = 0;
  let isBroken = false;

  function report(node: unknown, path: Path, message: string): void {
    faults.push({ offset: startOf(node), path, message });
  }

  function plainValue(node: unknown, path: Path): unknown {
    size++;
    if (isAlias(node)) return aliasValue(node, path);
    const { anchor } = (node ?? {}) as { anchor?: string };
    if (anchor === undefined) return ownValue(node, path);
    const before = size - 1;
    anchors.set(anchor, null);
    const value = ownValue(node, path);
    anchors.set(anchor, { node, value, size: size - before });
    return value;
  }

  function aliasValue(alias: Alias, path: Path): unknown {
    const anchor = anchors.get(alias.source);
    targets.set(alias, anchor?.node);
    size += anchor?.size ?? 0;
    aliased += anchor?.size ?? 0;
    if (anchor && aliased <= MAX_ALIASED_NODES) return anchor.value;
    isBroken = true;
    if (anchor === null) report(alias, path, "found an alias of what it is in, expected a value");
    else if (!anchor) report(alias, path, "found an alias without an anchor before it, expected a value");
    // One report is enough.
    else if (aliased - anchor.size <= MAX_ALIASED_NODES) report(alias, path, "found too many aliases, expected fewer");
    return undefined;
  }

  function ownValue(node: unknown, path: Path): unknown {
    if (isScalar(node)) return node.value;
    if (isSeq(node)) return node.items.map((item, index) => plainValue(item, [...path, index]));
    if (!isMap(node)) return null;
    const map: Record<string, unknown> = Object.create(null);
    for (const { key, value } of node.items) {
      const name = nameOf(key);
      const below = [...path, name];
      if (name in map) {
        const line = lineOf(startOf(pairOf(node, name)?.key));
        report(key, below, `found a second time, after line ${line}, expected once`);
      }
      map[name] = plainValue(value, below);
    }
    return map;
  }

  const value = plainValue(root, []);
  return isBroken ? undefined : value;
}

const nameOf = (key: unknown) => (isScalar(key) ? String(key.value) : "");

const pairs = new WeakMap<YAMLMap, Map<string, Pair>>();

/** The first pair of a map with a name. */
function pairOf(map: YAMLMap, name: string): Pair | undefined {
  let known = pairs.get(map);
  if (known === undefined) {
    known = new Map(map.items.map((pair) => [nameOf(pair.key), pair] as const).reverse());
    pairs.set(map, known);
  }
  return known.get(name);
}

/** The library's message, without what it quotes from the file, which may be a literal secret. */
function messageOf({ code, message }: { code: string; message: string }): string {
  if (code === "TAG_RESOLVE_FAILED") return "found a tag, expected quotes around text that begins with !";
  if (code === "BAD_DIRECTIVE") return "found an unknown directive, expected YAML 1.2";
  if (code === "NON_STRING_KEY") return "found a key that is no text, expected a name";
  return `${message.replace(/(?:: |(?<=escape sequence) ).*$/s, "")}, expected YAML 1.2`;
}

function startOf(node: unknown): number {
  return (node as Node | null | undefined)?.range?.[0] ?? 0;
}

/** The text of a YAML 1.2 file with a value. */
export const yamlText = (value: unknown) =>
  stringify(value, { version: "1.2", lineWidth: 0, aliasDuplicateObjects: false });

/**
 * Adds lines at the end of the map of a top-level key, in its indentation, and leaves everything else as it is. A
 * missing key is added. Returns null if the file has another form, such as a map in braces.
 */
export function appendToMap(text: string, name: string, lines: readonly string[]): string | null {
  const [document, second] = parseAllDocuments(text, OPTIONS) as Document[];
  const root = document?.contents ?? null;
  if (second || (document?.errors.length ?? 0) > 0) return null;
  if (root !== null && (!isMap(root) || root.flow)) return null;
  const pair = root && pairOf(root, name);
  if (!pair) return `${closed(text)}${text.trim() === "" ? "" : "\n"}${name}:\n${indented(lines, 2)}`;
  const last = isMap(pair.value) ? pair.value.items.at(-1) : undefined;
  if (isMap(pair.value) ? pair.value.flow || !last : !isScalar(pair.value) || pair.value.source) return null;
  const at = endOfLine(text, last ? endOf(last) : endOf(pair));
  return `${closed(text.slice(0, at))}${indented(lines, last ? columnOf(text, startOf(last.key)) : 2)}${text.slice(at)}`;
}

const closed = (text: string) => (text === "" || text.endsWith("\n") ? text : `${text}\n`);

const indented = (lines: readonly string[], by: number) => lines.map((line) => `${" ".repeat(by)}${line}\n`).join("");

const columnOf = (text: string, offset: number) => offset - (text.lastIndexOf("\n", offset - 1) + 1);

/** The offset behind the line break at or after an offset. */
function endOfLine(text: string, offset: number): number {
  if (text[offset - 1] === "\n") return offset;
  const at = text.indexOf("\n", offset);
  return at === -1 ? text.length : at + 1;
}

/** The end of what a pair has. In a block it is that of its last value: comments behind it belong to what follows. */
function endOf({ key, value }: Pair): number {
  const node = (value ?? key) as Node;
  const isBlock = (isMap(node) || isSeq(node)) && !node.flow;
  const last = isBlock ? node.items.at(-1) : undefined;
  if (isMap(node) && last) return endOf(last as Pair);
  if (isSeq(node) && last) return endOf({ key: last, value: null } as Pair);
  return isScalar(node) && node.range?.[0] === node.range?.[1]
    ? (((key as Node).range?.[1] ?? 0) as number)
    : (node.range?.[1] ?? 0);
}
