import {
  type Alias,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseAllDocuments,
  type YAMLMap,
} from "yaml";

/** A path from the top of the file: names of keys and numbers of items. */
export type Path = readonly (string | number)[];

/** Something wrong at an offset of the file. */
export interface YamlFault {
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
  /** Line and column, from 1. */
  positionOf(offset: number): { line: number; column: number };
}

// A value that aliases repeat is made once, but whoever reads the file sees it at each alias.
const MAX_ALIASED_NODES = 1_000_000;

interface Anchor {
  node: Node;
  value: unknown;
  /** How many nodes it has, with those that its aliases repeat. */
  size: number;
}

/** Parses the text of a YAML 1.2 file with one document. */
export function parseYaml(text: string): YamlDocument {
  const lineCounter = new LineCounter();
  // The library's own check for doubled keys takes quadratic time.
  const documents = parseAllDocuments(text, { lineCounter, uniqueKeys: false, version: "1.2", prettyErrors: false });
  const [document, second] = "empty" in documents ? [] : documents;
  const root = document?.contents ?? null;
  const faults: YamlFault[] = [];
  for (const error of [...(document?.errors ?? []), ...(document?.warnings ?? [])]) {
    faults.push({ offset: error.pos[0], path: [], message: messageOf(error) });
  }
  if (second) {
    faults.push({ offset: startOf(second.contents), path: [], message: "found a second document, expected one" });
  }

  function positionOf(offset: number) {
    const { line, col } = lineCounter.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  }
  const plain = faults.length > 0 ? null : toPlain(root, (offset) => positionOf(offset).line);
  faults.push(...(plain?.faults ?? []));
  const pairs = new Map<YAMLMap, Map<string, Pair>>();

  function pairAt(map: YAMLMap, name: string): Pair | undefined {
    let known = pairs.get(map);
    if (!known) {
      known = new Map(map.items.map((pair) => [nameOf(pair.key) ?? "", pair]));
      pairs.set(map, known);
    }
    return known.get(name);
  }

  return {
    value: plain?.value,
    faults,
    positionOf,
    offsetOf(path, at = "value") {
      let node: unknown = root;
      let offset = startOf(root);
      for (const [index, name] of path.entries()) {
        const found = isAlias(node) ? plain?.targets.get(node) : node;
        if (isSeq(found) && typeof name === "number") node = found.items[name];
        else if (isMap(found)) {
          const pair = pairAt(found, String(name));
          if (!pair) return offset;
          if (at === "key" && index === path.length - 1) return startOf(pair.key);
          // A key without a value is at the key.
          node = pair.value ?? pair.key;
        } else return offset;
        offset = startOf(node);
      }
      return offset;
    },
  };
}

/** The values of a document, its doubled keys and wrong aliases, and what each alias stands for. */
function toPlain(root: unknown, lineOf: (offset: number) => number) {
  const faults: YamlFault[] = [];
  const targets = new Map<Alias, Node>();
  /** An anchor may be set again: an alias stands for the last one before it. Null while its own value is read. */
  const anchors = new Map<string, Anchor | null>();
  /** Where the walk is. */
  const path: (string | number)[] = [];
  let size = 0;
  let aliased = 0;
  let isBroken = false;

  function report(node: unknown, message: string): undefined {
    faults.push({ offset: startOf(node), path: [...path], message });
  }

  function plainValue(node: unknown): unknown {
    size++;
    if (isAlias(node)) return aliasValue(node);
    const { anchor } = (node ?? {}) as { anchor?: string };
    if (anchor === undefined) return ownValue(node);
    const before = size - 1;
    anchors.set(anchor, null);
    const value = ownValue(node);
    anchors.set(anchor, { node: node as Node, value, size: size - before });
    return value;
  }

  function valueBelow(name: string | number, node: unknown): unknown {
    path.push(name);
    const value = plainValue(node);
    path.pop();
    return value;
  }

  function aliasValue(alias: Alias): unknown {
    const anchor = anchors.get(alias.source);
    if (!anchor) {
      isBroken = true;
      const found = anchor === null ? "found an alias of what it is in" : "found an alias without an anchor before it";
      return report(alias, `${found}, expected a value`);
    }
    targets.set(alias, anchor.node);
    size += anchor.size;
    aliased += anchor.size;
    if (aliased <= MAX_ALIASED_NODES) return anchor.value;
    isBroken = true;
    // One report is enough.
    if (aliased - anchor.size > MAX_ALIASED_NODES) return undefined;
    return report(alias, "found too many aliases, expected fewer");
  }

  function ownValue(node: unknown): unknown {
    if (isScalar(node)) return node.value;
    if (isSeq(node)) return node.items.map((item, index) => valueBelow(index, item));
    if (!isMap(node)) return null;
    const map: Record<string, unknown> = Object.create(null);
    for (const { key, value } of node.items) {
      const name = nameOf(key);
      if (name === undefined) {
        report(key, "found a key that is no text, expected a name");
        continue;
      }
      if (name in map) reportDoubled(node, key, name);
      map[name] = valueBelow(name, value);
    }
    return map;
  }

  function reportDoubled(map: YAMLMap, key: unknown, name: string): void {
    const first = map.items.find((pair) => nameOf(pair.key) === name);
    path.push(name);
    report(key, `found a second time, after line ${lineOf(startOf(first?.key))}, expected once`);
    path.pop();
  }

  const value = plainValue(root);
  return { value: isBroken ? undefined : value, faults, targets };
}

/** The name that a key is. A name such as 007 is not read as a number. */
function nameOf(key: unknown): string | undefined {
  if (!isScalar(key)) return undefined;
  if (typeof key.value === "string") return key.value;
  return key.source || undefined;
}

/** The library's message, without what it quotes from the file, which may be a literal secret. */
function messageOf({ code, message }: { code: string; message: string }): string {
  if (code === "TAG_RESOLVE_FAILED") return "found a tag, expected quotes around text that begins with !";
  if (code === "BAD_DIRECTIVE") return "found an unknown directive, expected YAML 1.2";
  return `${message.replace(/(?:: |(?<=escape sequence) ).*$/s, "")}, expected YAML 1.2`;
}

function startOf(node: unknown): number {
  return (node as Node | null | undefined)?.range?.[0] ?? 0;
}
