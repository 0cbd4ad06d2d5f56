import { ExactNumber, numberOf } from "../../lib/exact-json.ts";

/** What is used of a compiled expression of JSONata. */
interface Compiled {
  registerFunction(name: string, run: (value: unknown) => unknown, signature: string): void;
  ast(): object;
}

/** Lets a compiled expression copy numbers with all of their digits, and compare them with numbers in its text. */
export function keepDigits(compiled: Compiled, text: string): void {
  // The operator `| … |` makes its copy with this function, which would write numbers as text and read them again.
  compiled.registerFunction("clone", copyOf, "<(oa)-:o>");
  readDigits(compiled.ast() as Node, text);
}

function copyOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyOf);
  if (typeof value !== "object" || value === null || value instanceof ExactNumber) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, copyOf(member)]));
}

interface Node {
  type?: unknown;
  value?: unknown;
  /** Where its text ends. */
  position?: number;
  lhs?: Node;
  rhs?: Node;
}

/** Gives numbers that are compared by `=` or `!=` the digits that they have in the text. */
function readDigits(node: Node, text: string): void {
  if (node.type === "binary" && (node.value === "=" || node.value === "!=")) {
    for (const side of [node.lhs, node.rhs]) if (side?.type === "number") side.value = digitsOf(side, text);
  }
  for (const part of Object.values(node)) {
    if (typeof part === "object" && part !== null && !(part instanceof ExactNumber)) readDigits(part as Node, text);
  }
}

function digitsOf({ value, position }: Node, text: string): unknown {
  const [written] = /(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?$/.exec(text.slice(0, position)) ?? [];
  return written === undefined ? value : numberOf(`${Number(value) < 0 ? "-" : ""}${written}`);
}
