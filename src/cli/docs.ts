import { OperatorError } from "../errors.ts";
import { readManual } from "../platform/checkout.ts";
import type { ManualPage } from "../platform/manual.ts";
import { type Section, searchSections, sectionsOf } from "../platform/manual-search.ts";
import { printData, printJson } from "./output.ts";
import { printTable } from "./table.ts";

const SHOWN = 5;

/** Prints the list of pages, the page that is named, or the sections that have all words, the best one in full. */
export function runDocs(words: readonly string[], { json }: { json?: boolean }): void {
  const pages = readManual();
  const named = words.length === 1 ? pages.find(({ name }) => name === words[0]) : undefined;
  if (words.length === 0) printList(pages, json);
  else if (json) printJson(named ?? search());
  else if (named) printData(named.text.trimEnd());
  else printFound(search());

  function search(): Section[] {
    return searchSections(sectionsOf(pages), words, SHOWN);
  }
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
