import { OperatorError } from "../errors.ts";
import { readManual } from "../platform/checkout.ts";
import type { ManualPage } from "../platform/manual.ts";
import { printData, printJson } from "./output.ts";
import { printTable } from "./table.ts";

/** A part of a page, from one heading to the next. */
interface Section {
  page: string;
  heading: string;
  text: string;
}

const SHOWN = 5;
/** What a word counts as the whole heading; in the text it counts 1 each time, up to {@link IN_TEXT}. */
const IN_HEADING = 30;
const IN_PAGE = 5;
const IN_TEXT = 10;
/** The reference has all words. */
const OF_REFERENCE = 0.15;

/** Prints the list of pages, the page that is named, or the sections that have all words, the best one in full. */
export function runDocs(words: readonly string[], { json }: { json?: boolean }): void {
  const pages = readManual();
  const named = words.length === 1 ? pages.find(({ name }) => name === words[0]) : undefined;
  if (words.length === 0) printList(pages, json);
  else if (json) printJson(named ?? search(pages, words));
  else if (named) printData(named.text.trimEnd());
  else printFound(search(pages, words));
}

function printList(pages: readonly ManualPage[], json: boolean | undefined): void {
  const rows = pages.map(({ name, text }) => ({ name, title: /^# (.*)$/m.exec(text)?.[1] ?? name }));
  if (json) printJson(rows);
  else
    printTable(
      ["PAGE", "TITLE"],
      rows.map(({ name, title }) => [name, title]),
    );
}

function printFound([best, ...others]: readonly Section[]): void {
  if (!best)
    throw new OperatorError(
      { found: "No section has all these words", remedy: "name fewer, or see authserve docs" },
      1,
    );
  printData(`${best.page}\n\n${best.text.trim()}`);
  if (others.length > 0) printData("\nSee also:");
  for (const { page, heading } of others) printData(`  authserve docs ${page}   (${heading})`);
}

/** The sections with all words, those first that have them in their headings and most often. */
function search(pages: readonly ManualPage[], words: readonly string[]): Section[] {
  const wanted = words.flatMap((word) => word.toLowerCase().split(/\s+/)).filter((word) => word !== "");
  const patterns = wanted.map(patternOf);
  return pages
    .flatMap(sectionsOf)
    .map((section) => ({ section, score: scoreOf(section, patterns) }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
    .slice(0, SHOWN)
    .map(({ section }) => section);
}

function sectionsOf({ name: page, text }: ManualPage): Section[] {
  const sections: Section[] = [];
  let isCode = false;
  for (const line of text.split("\n")) {
    if (line.startsWith("```")) isCode = !isCode;
    const heading = isCode ? undefined : /^#+ (.*)$/.exec(line)?.[1];
    const last = sections.at(-1);
    if (heading !== undefined || last === undefined) sections.push({ page, heading: heading ?? page, text: line });
    else last.text += `\n${line}`;
  }
  return sections;
}

/** Finds words that begin with a word or its singular, also in two parts: "backups" finds "Back up". */
function patternOf(word: string): RegExp {
  const stem = word.length > 4 ? word.replace(/(?:ies|(?<![ps])s)$/, "") : word;
  const letters = Array.from(stem, (letter) => letter.replace(/[^\p{L}\p{N}]/u, "\\$&"));
  return new RegExp(`(?<![a-z0-9])${letters.join("[ -]?")}`, "gi");
}

/** 0 unless the section has every word. A long section has words by chance. */
function scoreOf({ page, heading, text }: Section, patterns: readonly RegExp[]): number {
  const counts = patterns.map((pattern) => {
    const found = (part: string): readonly string[] => part.match(pattern) ?? [];
    const share = found(heading).join("").length / heading.length;
    return IN_HEADING * share + IN_PAGE * Math.min(1, found(page).length) + Math.min(IN_TEXT, found(text).length);
  });
  if (counts.some((count) => count === 0)) return 0;
  const weight = page.startsWith("reference/") ? OF_REFERENCE : 1;
  return (weight * counts.reduce((sum, count) => sum + count)) / Math.log(100 + text.length);
}
