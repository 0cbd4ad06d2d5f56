import type { ManualPage } from "./manual.ts";

/** A part of a page, from one heading to the next. */
export interface Section {
  /** The name of its page. */
  page: string;
  heading: string;
  /** The part of an address that leads to it. */
  anchor: string;
  /** Markdown, with its heading. */
  text: string;
}

/** What a word counts as the whole heading; in the text it counts 1 each time, up to {@link IN_TEXT}. */
const IN_HEADING = 30;
const IN_PAGE = 5;
const IN_TEXT = 10;
/** What a section counts of the reference, which has all words, and of the overview and the history. */
const LESS = 0.15;

/** The sections of pages. */
export function sectionsOf(pages: readonly ManualPage[]): Section[] {
  return pages.flatMap(({ name: page, text }) => {
    const sections: Section[] = [];
    const anchorOf = createAnchors();
    let isCode = false;
    for (const line of text.split("\n")) {
      if (line.startsWith("```")) isCode = !isCode;
      const heading = isCode ? undefined : /^#+ (.*)$/.exec(line)?.[1];
      const last = sections.at(-1);
      if (heading !== undefined) sections.push({ page, heading, anchor: anchorOf(heading), text: line });
      else if (last !== undefined) last.text += `\n${line}`;
    }
    return sections;
  });
}

/** Returns what gives the anchor of each heading of a page, in their order, as GitHub does. */
export function createAnchors(): (heading: string) => string {
  const given = new Set<string>();
  return (heading) => {
    const slug = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-");
    let anchor = slug;
    for (let count = 1; given.has(anchor); count++) anchor = `${slug}-${count}`;
    given.add(anchor);
    return anchor;
  };
}

/** The sections with all words, those first that have them in their headings and most often. */
export function searchSections(sections: readonly Section[], words: readonly string[], limit: number): Section[] {
  const patterns = words
    .flatMap((word) => word.toLowerCase().split(/\s+/))
    .filter((word) => word !== "")
    .map(patternOf);
  if (patterns.length === 0) return [];
  return sections
    .map((section) => ({ section, score: scoreOf(section, patterns) }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
    .slice(0, limit)
    .map(({ section }) => section);
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
  const weight = /^(?:reference\/|(?:index|contributing|changelog)$)/.test(page) ? LESS : 1;
  return (weight * counts.reduce((sum, count) => sum + count)) / Math.log(100 + text.length);
}
