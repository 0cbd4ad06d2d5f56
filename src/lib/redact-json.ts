import { endOfString, isName, nameIn, unreadShapeOf } from "./json.ts";

/** What replaces a redacted value. */
export const REDACTED = "[redacted]";

/** Paths of members, each as its names: `*` is any one member, and `**` any number of them. */
export type RedactedPaths = readonly (readonly string[])[];

/** The names of a path such as `data.**.email`. */
export const namesOfPath = (path: string): readonly string[] => path.split(".");

/** Whether the member at a path would be redacted. */
export function isRedacted(paths: RedactedPaths, member: string): boolean {
  let place = rootOf(paths);
  for (const name of namesOfPath(member)) {
    place = /^[0-9]+$/.test(name) ? place.item(name) : place.member(name);
    if (place.isRedacted) return true;
  }
  return false;
}

/** A text without some members, and the texts and numbers that were in them. */
export interface RedactedText {
  text: string;
  removed: string[];
}

/**
 * Replaces members of JSON, or of each value of JSON Lines. All other characters stay as they are. The items of a list
 * have the path of the list, and also their own with their number. A name with dots is several names. Returns null if
 * the text is no JSON. `isKnown`: it was parsed before, and is.
 */
export function redactJson(
  text: string,
  paths: RedactedPaths,
  { isLines = false, isKnown = false } = {},
): RedactedText | null {
  const root = rootOf(paths);
  if (isKnown) return redactValues(text, root);
  if (!isLines) return redactJsonAt(text, root);
  const lines = text.split("\n");
  return lines.every((line) => line.trim() === "" || isJsonText(line)) ? redactValues(text, root) : null;
}

/** As {@link redactJson}, for JSON that is itself at a place. */
export const redactJsonAt = (text: string, place: RedactedPlace): RedactedText | null =>
  isJsonText(text) ? redactValues(text, place) : null;

/** Whether a text is JSON. */
export function isJsonText(text: string): boolean {
  if (unreadShapeOf(text) !== null) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** A place in JSON: how far each path has been followed there. Equal places are the same object. */
export interface RedactedPlace {
  isRedacted: boolean;
  /** Whether a path leads to something in it. */
  isOnPath: boolean;
  /** The place of a member. A name with dots is several names. */
  member(name: string): RedactedPlace;
  /** The place of an item of a list: that of the list, and its own. */
  item(index: string): RedactedPlace;
}

const roots = new WeakMap<RedactedPaths, RedactedPlace>();

/** The place of a whole value. */
export function rootOf(paths: RedactedPaths): RedactedPlace {
  const root = roots.get(paths) ?? makeRoot(paths);
  roots.set(paths, root);
  return root;
}

/** A path with the number of its names that have been met. */
type State = readonly [path: number, met: number];

/** Makes places when they are first asked for. They are few: what no path names is one place. */
function makeRoot(paths: RedactedPaths): RedactedPlace {
  const named = new Set(paths.flat());
  const places = new Map<string, RedactedPlace>();
  const wanted = ([path, met]: State) => paths[path]?.[met];

  function placeOf(found: readonly State[]): RedactedPlace {
    const states = [...found];
    // `**` may stand for nothing.
    for (const [path, met] of states) if (wanted([path, met]) === "**") states.push([path, met + 1]);
    const unique = new Map(states.map((state) => [state.join(), state]));
    const key = [...unique.keys()].sort().join(" ");
    const place = places.get(key) ?? makePlace([...unique.values()]);
    places.set(key, place);
    return place;
  }

  function makePlace(states: readonly State[]): RedactedPlace {
    const behind = (name: string) =>
      states.flatMap(([path, met]): State[] => {
        const next = wanted([path, met]);
        if (next === "**") return [[path, met]];
        return next === "*" || next === name ? [[path, met + 1]] : [];
      });
    /** One place for each name in a path, and one for all others. */
    const cached = (make: (name: string) => readonly State[]) => {
      const known = new Map<string | null, RedactedPlace>();
      return (name: string): RedactedPlace => {
        const key = named.has(name) ? name : null;
        const place = known.get(key) ?? placeOf(make(name));
        known.set(key, place);
        return place;
      };
    };
    const ofName = cached(behind);
    return {
      isRedacted: states.some((state) => wanted(state) === undefined),
      isOnPath: states.length > 0,
      member(name) {
        if (!name.includes(".")) return ofName(name);
        const [first = "", ...rest] = name.split(".");
        return rest.reduce((place, part) => place.member(part), ofName(first));
      },
      item: cached((index) => [...states, ...behind(index)]),
    };
  }

  return placeOf(paths.map((_, path): State => [path, 0]));
}

interface Container {
  place: RedactedPlace;
  /** How many items of a list have begun; null in an object. */
  items: number | null;
  /** The place of the value behind the last name. */
  ofMember: RedactedPlace;
}

const SCALAR = /[^\s,\]}]+/y;
const SEPARATORS = " \t\n\r,:";

/** Goes through a text that is known to be JSON. */
function redactValues(text: string, root: RedactedPlace): RedactedText {
  const open: Container[] = [];
  const kept: string[] = [];
  const removed: string[] = [];
  let copiedTo = 0;

  function replace(from: number, end: number): void {
    kept.push(text.slice(copiedTo, from), `"${REDACTED}"`);
    textsIn(text.slice(from, end), removed);
    copiedTo = end;
  }

  /** Returns the place behind what begins here: a separator, a bracket, a name or a value. */
  function next(at: number): number {
    const sign = text[at] as string;
    if (SEPARATORS.includes(sign)) return at + 1;
    if (sign === "}" || sign === "]") {
      open.pop();
      return at + 1;
    }
    const container = open.at(-1);
    if (container?.items === null && sign === '"') {
      const end = endOfString(text, at) + 1;
      if (isName(text, end - 1)) {
        container.ofMember = container.place.member(nameIn(text.slice(at, end)));
        return end;
      }
    }
    const place = container ? nextIn(container) : root;
    if (place.isRedacted) {
      const end = endOfValue(text, at);
      replace(at, end);
      return end;
    }
    if (!isOpening(sign)) return endOfValue(text, at);
    open.push({ place, items: sign === "[" ? 0 : null, ofMember: place });
    return at + 1;
  }

  for (let at = 0; at < text.length; ) at = next(at);
  return { text: kept.join("") + text.slice(copiedTo), removed };
}

/** The place of the next value in an object or a list. */
const nextIn = (container: Container) =>
  container.items === null ? container.ofMember : container.place.item(String(container.items++));

const isOpening = (sign: string) => sign === "{" || sign === "[";

/** The place behind the string, number, word, object or list that begins here. */
function endOfValue(text: string, start: number): number {
  const sign = text[start] as string;
  if (sign === '"') return endOfString(text, start) + 1;
  if (isOpening(sign)) return endOfContainer(text, start);
  SCALAR.lastIndex = start;
  return start + (SCALAR.exec(text)?.[0].length ?? 1);
}

/** The place behind the object or list that begins here. */
function endOfContainer(text: string, start: number): number {
  let depth = 0;
  for (let at = start; ; at++) {
    const sign = text[at];
    if (sign === '"') at = endOfString(text, at);
    else if (sign === "{" || sign === "[") depth++;
    else if ((sign === "}" || sign === "]") && --depth === 0) return at + 1;
  }
}

const NUMBER = /-?\d[\d.eE+-]*/y;
// Such a name describes what it has, and is no data.
const DESCRIBES = /^[A-Za-z_][A-Za-z_-]*$/;

/** Adds the texts of JSON to a list, and its numbers as they are written: JavaScript does not hold all their digits. */
export function textsIn(json: string, found: string[]): void {
  for (let at = 0; at < json.length; at++) {
    if (json[at] === '"') {
      const end = endOfString(json, at);
      const text = nameIn(json.slice(at, end + 1));
      if (!isName(json, end) || !DESCRIBES.test(text)) found.push(text);
      at = end;
      continue;
    }
    NUMBER.lastIndex = at;
    const [number] = NUMBER.exec(json) ?? [];
    if (number === undefined) continue;
    found.push(number);
    at += number.length - 1;
  }
}
