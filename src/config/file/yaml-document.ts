import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, type Pair, parseAllDocuments } from "yaml";

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
  /** Undefined if the file has syntax errors. */
  value: unknown;
  /** Syntax errors and doubled keys. */
  faults: YamlFault[];
  /** The offset of the value at a path, or of its key; of the nearest value above it if it is missing. */
  offsetOf(path: Path, at?: "value" | "key"): number;
  /** Line and column, from 1. */
  positionOf(offset: number): { line: number; column: number };
}

// Aliases may repeat a part of the file, and that part may have aliases.
const MAX_NODES = 2_000_000;

/** Parses the text of a YAML 1.2 file with one document. */
export function parseYaml(text: string): YamlDocument {
  const lineCounter = new LineCounter();
  // The library's own check for doubled keys takes quadratic time.
  const documents = parseAllDocuments(text, { lineCounter, uniqueKeys: false, version: "1.2", prettyErrors: false });
  const [document, second] = "empty" in documents ? [] : documents;
  const faults: YamlFault[] = [];
  let nodes = 0;

  function resolved(node: unknown): unknown {
    return isAlias(node) && document ? node.resolve(document) : node;
  }

  function plainValue(node: unknown, path: Path): unknown {
    if (++nodes > MAX_NODES) return undefined;
    const found = resolved(node);
    if (isScalar(found)) return found.value;
    if (isSeq(found)) return found.items.map((item, index) => plainValue(item, [...path, index]));
    if (!isMap(found)) return null;
    const map: Record<string, unknown> = Object.create(null);
    for (const pair of found.items) addPair(map, pair, path);
    return map;
  }

  function addPair(map: Record<string, unknown>, pair: Pair, path: Path): void {
    const offset = startOf(pair.key);
    const key = isScalar(pair.key) ? pair.key.value : undefined;
    const name = typeof key === "number" ? String(key) : key;
    if (typeof name !== "string") {
      faults.push({ offset, path, message: "found a key that is no text, expected a name" });
      return;
    }
    if (name in map) faults.push({ offset, path: [...path, name], message: "found a second time, expected once" });
    map[name] = plainValue(pair.value, [...path, name]);
  }

  for (const error of [...(document?.errors ?? []), ...(document?.warnings ?? [])]) {
    faults.push({ offset: error.pos[0], path: [], message: `${error.message}, expected YAML 1.2` });
  }
  if (second)
    faults.push({ offset: startOf(second.contents), path: [], message: "found a second document, expected one" });
  const root = document?.contents ?? null;
  const value = faults.length > 0 ? undefined : plainValue(root, []);
  if (nodes > MAX_NODES) faults.push({ offset: 0, path: [], message: "found too many aliases, expected fewer" });

  return {
    value,
    faults,
    positionOf(offset) {
      const { line, col } = lineCounter.linePos(offset);
      return { line: Math.max(1, line), column: Math.max(1, col) };
    },
    offsetOf(path, at = "value") {
      let node: unknown = root;
      let offset = startOf(root);
      for (const [index, name] of path.entries()) {
        const found = resolved(node);
        if (isSeq(found) && typeof name === "number") node = found.items[name];
        else if (isMap(found)) {
          const pair = found.items.findLast(({ key }) => isScalar(key) && String(key.value) === String(name));
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

function startOf(node: unknown): number {
  return (node as Node | null | undefined)?.range?.[0] ?? 0;
}
