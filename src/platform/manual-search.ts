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

/** How much more a word counts in a heading than in the text. */
const IN_HEADING = 10;

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
  const wanted = words.flatMap((word) => word.toLowerCase().split(/\s+/)).filter((word) => word !== "");
  if (wanted.length === 0) return [];
  return sections
    .map((section) => ({ section, score: scoreOf(section, wanted) }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
    .slice(0, limit)
    .map(({ section }) => section);
}

/** 0 unless the section has every word. A long section has words by chance, and the reference has them all. */
function scoreOf({ page, heading, text }: Section, words: readonly string[]): number {
  const [inHeading, inText] = [`${page} ${heading}`.toLowerCase(), text.toLowerCase()];
  const counts = words.map(
    (word) => IN_HEADING * Number(inHeading.includes(word)) + Math.min(IN_HEADING, inText.split(word).length - 1),
  );
  if (counts.some((count) => count === 0)) return 0;
  const weight = /^(?:reference\/|contributing$|changelog$)/.test(page) ? 0.5 : 1;
  return (weight * counts.reduce((sum, count) => sum + count)) / Math.log(100 + text.length);
}
