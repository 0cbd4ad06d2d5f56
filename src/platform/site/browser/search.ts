import { type Section, searchSections } from "../../manual-search.ts";

declare global {
  /** What the script of the index sets. */
  var manual: Section[] | undefined;
}

const LIMIT = 10;
const EXCERPT = 160;

const top = document.documentElement.dataset.top ?? "";
const form = document.querySelector("form") as HTMLFormElement;
const input = form.querySelector("input") as HTMLInputElement;
const list = document.querySelector("#found") as HTMLOListElement;

let loading: Promise<void> | undefined;

/** Loads the index by an element, because a page that is a file may not fetch. */
function loadIndex(): Promise<void> {
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = `${top}search-index.js`;
    script.onload = () => resolve();
    script.onerror = () => {
      loading = undefined;
      reject(new Error("the index of the search cannot be loaded"));
    };
    document.head.append(script);
  });
  return loading;
}

async function search(): Promise<void> {
  await loadIndex();
  const words = input.value.split(/\s+/).filter((word) => word !== "");
  const sections = globalThis.manual ?? [];
  const found = searchSections(sections, words, LIMIT);
  list.hidden = words.length === 0;
  list.replaceChildren(...(found.length === 0 ? [entryOf("No section has all these words.")] : found.map(resultOf)));

  function resultOf({ page, heading, anchor, text }: Section): HTMLLIElement {
    const link = document.createElement("a");
    link.href = `${top}${page}.html#${anchor}`;
    link.append(plain(heading));
    const title = sections.find((one) => one.page === page)?.heading ?? page;
    const place = document.createElement("small");
    if (title !== heading) place.append(plain(title));
    const excerpt = document.createElement("p");
    excerpt.append(excerptOf(plain(text.slice(text.indexOf("\n") + 1)), words));
    return entryOf(link, " ", place, excerpt);
  }
}

function entryOf(...content: (Node | string)[]): HTMLLIElement {
  const entry = document.createElement("li");
  entry.append(...content);
  return entry;
}

/** Markdown without the marks of links, code and tables. */
const plain = (text: string) =>
  text
    .replace(/\]\([^)]*\)/g, "")
    .replace(/[`*[\]|]|-{3,}/g, "")
    .replace(/\s+/g, " ");

/** The text around the first word that is found. */
function excerptOf(text: string, words: readonly string[]): string {
  const small = text.toLowerCase();
  const places = words.map((word) => small.indexOf(word.toLowerCase())).filter((at) => at >= 0);
  const from = Math.max(0, Math.min(...places, text.length) - EXCERPT / 4);
  const start = from === 0 || places.length === 0 ? 0 : text.indexOf(" ", from) + 1;
  const rest = text.slice(start);
  const shown = rest.length > EXCERPT ? `${rest.slice(0, rest.lastIndexOf(" ", EXCERPT))} …` : rest;
  return `${start === 0 ? "" : "… "}${shown}`;
}

form.hidden = false;
form.addEventListener("submit", (event) => {
  event.preventDefault();
  list.querySelector("a")?.click();
});
input.addEventListener("input", () => void search());
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement !== input) {
    event.preventDefault();
    input.focus();
  } else if (event.key === "Escape" && !list.hidden) {
    list.hidden = true;
    input.focus();
  }
});
