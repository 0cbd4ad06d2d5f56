/** A value of a JSON text. Numbers and literals are kept as written, and members with equal names are all kept. */
export type JsonNode =
  | { kind: "object"; members: { name: string; value: JsonNode }[] }
  | { kind: "array"; items: JsonNode[] }
  | { kind: "string"; text: string }
  | { kind: "number" | "literal"; text: string };

// Each level needs a part of the stack of the parser and of the view.
const MAX_DEPTH = 200;

/** Parses JSON. Returns null if the text is not JSON, or has too many levels to be shown as a tree. */
export function parseJsonTree(text: string): JsonNode | null {
  try {
    JSON.parse(text);
  } catch {
    return null;
  }
  const tokens = tokensOf(text);
  return readValue(tokens(), tokens, 0);
}

/** Returns the next token at each call. */
type Tokens = () => string;

/** The text is known to be JSON: its structure follows from the tokens, without commas and colons. */
function tokensOf(text: string): Tokens {
  const pattern = /"(?:[^"\\]|\\.)*"|[[\]{}]|-?[0-9][-+.0-9eE]*|true|false|null/g;
  return () => pattern.exec(text)?.[0] ?? "";
}

function readValue(token: string, tokens: Tokens, depth: number): JsonNode | null {
  if (depth > MAX_DEPTH) return null;
  if (token === "{") return readObject(tokens, depth);
  if (token === "[") return readArray(tokens, depth);
  if (token.startsWith('"')) return { kind: "string", text: JSON.parse(token) as string };
  return { kind: /^[-0-9]/.test(token) ? "number" : "literal", text: token };
}

function readObject(tokens: Tokens, depth: number): JsonNode | null {
  const members: { name: string; value: JsonNode }[] = [];
  for (let token = tokens(); token !== "}"; token = tokens()) {
    const value = readValue(tokens(), tokens, depth + 1);
    if (value === null) return null;
    members.push({ name: JSON.parse(token) as string, value });
  }
  return { kind: "object", members };
}

function readArray(tokens: Tokens, depth: number): JsonNode | null {
  const items: JsonNode[] = [];
  for (let token = tokens(); token !== "]"; token = tokens()) {
    const value = readValue(token, tokens, depth + 1);
    if (value === null) return null;
    items.push(value);
  }
  return { kind: "array", items };
}

/** The number of values directly in a value. */
export function sizeOf(node: JsonNode): number {
  if (node.kind === "object") return node.members.length;
  return node.kind === "array" ? node.items.length : 0;
}
