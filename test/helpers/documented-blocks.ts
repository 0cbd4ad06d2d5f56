import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isMap, isSeq, parseDocument } from "yaml";
import { configJsonSchema } from "../../src/config/file/json-schema.ts";
import { isSettingName } from "../../src/config/settings.ts";

const ROOT = join(import.meta.dirname, "../..");

/** What a block is, by its content. */
type BlockKind = "configuration" | "routes" | "route" | "source" | "settings" | "commands" | "program";

/** A block of code of a page, between fences or indented. */
export interface Block {
  page: string;
  /** The number of its first line. */
  line: number;
  language: string;
  text: string;
  /** Null for what no rule knows. */
  kind: BlockKind | null;
}

/** The pages for users, with those of the reference. */
export const PAGES = [
  "README.md",
  ...readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`)
    .sort(),
];

/** The names of keys that a part of the configuration file may have. */
function keysOf(part: unknown): Set<string> {
  const { properties = {}, anyOf = [] } = part as { properties?: object; anyOf?: unknown[] };
  return new Set([...Object.keys(properties), ...anyOf.flatMap((one) => [...keysOf(one)])]);
}

const schema = configJsonSchema() as unknown as {
  properties: { sources: { additionalProperties: unknown }; routes: { items: unknown } };
};
const KEYS: readonly (readonly [BlockKind, Set<string>])[] = [
  ["configuration", keysOf(schema)],
  ["route", keysOf(schema.properties.routes.items)],
  ["source", keysOf(schema.properties.sources.additionalProperties)],
];

/** The programs that a block without a language may begin with. */
const PROGRAM = /^(\.\/|\.\/bin\/|npx |service-)?authserve |^(npm|curl|openssl|minisign|cloudflared|stripe) /;

function kindOf(language: string, text: string): BlockKind | null {
  const lines = text.trimEnd().split("\n");
  if (["js", "python", "go"].includes(language)) return "program";
  if (lines.every((line) => isSettingName(/^([A-Z_]+)=/.exec(line)?.[1] ?? ""))) return "settings";
  if (["sh", "bash"].includes(language) || (language === "" && PROGRAM.test(text))) return "commands";
  if (!["", "yaml"].includes(language)) return null;
  const { contents } = parseDocument(text, { uniqueKeys: false });
  if (isSeq(contents)) return contents.items.every((one) => isMap(one) && one.has("name")) ? "routes" : null;
  if (!isMap(contents)) return null;
  const names = contents.items.map(({ key }) => String(key));
  return KEYS.find(([, known]) => names.every((name) => known.has(name)))?.[0] ?? null;
}

/** The blocks of a page, in order. */
export function blocksOf(page: string): Block[] {
  const lines = readFileSync(join(ROOT, page), "utf8").split("\n");
  const blocks: Block[] = [];
  const add = (begin: number, end: number, language = "") => {
    const taken = lines.slice(begin, end);
    const indent = Math.min(...taken.filter((line) => line !== "").map((line) => line.search(/\S/)));
    const text = `${taken
      .map((line) => line.slice(indent))
      .join("\n")
      .trimEnd()}\n`;
    // The other blocks of the reference are shapes of answers and of commands.
    if (page.startsWith("docs/reference/") && !["sh", "yaml"].includes(language)) return;
    blocks.push({ page, line: begin + 1, language, text, kind: kindOf(language, text) });
  };
  for (let at = 0; at < lines.length; at++) {
    const [, language] = /^```(\w*)$/.exec(lines[at] ?? "") ?? [];
    const isIndented = /^ {4,}\S/.test(lines[at] ?? "") && lines[at - 1] === "";
    if (language === undefined && !isIndented) continue;
    const begin = language === undefined ? at : at + 1;
    const isEnd = language === undefined ? /^ {0,3}\S/ : /^```$/;
    const end = lines.findIndex((line, index) => index >= begin && isEnd.test(line));
    add(begin, end === -1 ? lines.length : end, language);
    at = end === -1 ? lines.length : end;
    if (isIndented) at--;
  }
  return blocks;
}

/** The spans of code in the prose of a page that are a command of authserve. */
export function spansOf(page: string): string[] {
  const prose = readFileSync(join(ROOT, page), "utf8").replace(/^```.*?^```$/gms, "");
  return Array.from(prose.matchAll(/`([^`\n]+)`/g), ([, code = ""]) => code).filter((code) =>
    /^(\.\/|\.\/bin\/|npx |service-)?authserve [a-z]/.test(code),
  );
}

/** The arguments of each command of authserve in some text. */
export function commandsIn(text: string): string[][] {
  const lines = text
    .replaceAll("\\\n", " ")
    .replace(/(^| )#.*/gm, "")
    .split(/\n|&&|;|\||<|>|\$\(/);
  return lines.flatMap((line) => {
    const [, command = ""] = /^(?:.*[ /-])?authserve ([a-z][a-z-]*(?: .*)?)$/.exec(line.trim()) ?? [];
    const words = command.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? [];
    return words.length === 0 ? [] : [words.map((word) => word.replace(/["']/g, ""))];
  });
}
