import { isUtf8 } from "node:buffer";

const MAX_DEPTH = 64;

// From here on a set of names is quicker than comparing each with each.
const FEW_NAMES = 16;

const QUOTE = 0x22;
const PLUS = 0x2b;
const COMMA = 0x2c;
const MINUS = 0x2d;
const DOT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const LOWER_U = 0x75;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

const ascii = (text: string) => new TextEncoder().encode(text);
const TRUE = ascii("true");
const FALSE = ascii("false");
const NULL = ascii("null");

/** Instead of a place: what should begin there does not. */
const BROKEN = -1;

/** What may follow a backslash, besides `u` and four digits. */
const ESCAPED = new Set(ascii('"\\/bfnrt'));

/** The members whose values are wanted of a text. Made once, by {@link membersOf}. */
export type Members = readonly { name: string; parent: number }[];

/** Where a wanted member stands, when that is not the value of another wanted member; none stands nowhere. */
const OUTERMOST = -1;
const NOWHERE = -2;

/** Lists members of an object, and members of its members; their names are ASCII. */
export function membersOf(...paths: readonly (readonly [name: string, innerName?: string])[]): Members {
  const members: { name: string; parent: number }[] = [];
  const add = (name: string, parent: number) => {
    const known = indexOf(members, name, parent);
    return known === -1 ? members.push({ name, parent }) - 1 : known;
  };
  for (const [name, innerName] of paths) {
    const at = add(name, OUTERMOST);
    if (innerName !== undefined) add(innerName, at);
  }
  return members;
}

function indexOf(members: Members, name: string, parent: number): number {
  for (let i = 0; i < members.length; i++) if (members[i]?.name === name && members[i]?.parent === parent) return i;
  return -1;
}

/** A JSON text that has been checked whole, and from which wanted values can be read. */
export interface ScannedJson {
  isObject: boolean;
  /**
   * The value of a wanted member, or of a member's member: a text, number or literal as such, an object or array as
   * {@link OBJECT} or {@link ARRAY}, and undefined when there is none.
   */
  get(name: string, innerName?: string): unknown;
}

/** Stands for an object that was checked and not built. */
export const OBJECT = Symbol("object");
/** Stands for an array that was checked and not built. */
export const ARRAY = Symbol("array");

/** A checked text, or the reason it is refused, as the end of a sentence about it. */
export type JsonScan = { ok: true; json: ScannedJson } | { ok: false; reason: string };

/**
 * Checks JSON as RFC 8259 and RFC 7493 mean it: UTF-8 without a byte order mark, no member name twice in an object,
 * 64 levels at most. Builds no values: that costs several times the check. The reason never holds any of the input.
 */
export function scanJson(bytes: Buffer, wanted: Members = []): JsonScan {
  if (!isUtf8(bytes)) return { ok: false, reason: "is not UTF-8" };
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf)
    return { ok: false, reason: "starts with a byte order mark" };
  const scanner = new Scanner(bytes, wanted);
  if (!scanner.isJson()) {
    return { ok: false, reason: scanner.tooDeep ? `is nested deeper than ${MAX_DEPTH} levels` : "is not JSON" };
  }
  if (scanner.nameTwice) return { ok: false, reason: "has a member name twice" };
  return { ok: true, json: scanner };
}

// Start and end of the names of the objects that are open, each object's behind its parent's. One for all scans: none is
// interrupted by another.
const names = new Int32Array(2 * FEW_NAMES * MAX_DEPTH);

// What is noted of a wanted member's value: its start and end, and whether an escape is in it. No value starts at 0, where
// its object does.
const NOTES = 3;

class Scanner implements ScannedJson {
  tooDeep = false;
  nameTwice = false;
  isObject = false;
  private readonly bytes: Buffer;
  private readonly wanted: Members;
  private readonly notes: number[];
  private level = 0;
  private namesUsed = 0;
  /** The wanted member whose value is checked next, or where else wanted members may stand in it. */
  private parent = OUTERMOST;
  private stringHasEscape = false;

  constructor(bytes: Buffer, wanted: Members) {
    this.bytes = bytes;
    this.wanted = wanted;
    this.notes = new Array<number>(NOTES * wanted.length).fill(0);
  }

  isJson(): boolean {
    const start = this.behindSpace(0);
    this.isObject = this.bytes[start] === OPEN_BRACE;
    const end = this.value(start);
    return end !== BROKEN && this.behindSpace(end) === this.bytes.length;
  }

  get(name: string, innerName?: string): unknown {
    const outer = this.indexOf(name, OUTERMOST);
    return this.read(innerName === undefined ? outer : this.indexOf(innerName, outer));
  }

  private indexOf(name: string, parent: number): number {
    const index = indexOf(this.wanted, name, parent);
    if (index === -1) throw new Error(`${name} is not among the wanted members`);
    return index;
  }

  private read(index: number): unknown {
    const start = this.notes[NOTES * index] as number;
    const end = this.notes[NOTES * index + 1] as number;
    if (start === 0) return undefined;
    switch (this.bytes[start]) {
      case OPEN_BRACE:
        return OBJECT;
      case OPEN_BRACKET:
        return ARRAY;
      case QUOTE:
        return this.text(start + 1, end - 1, this.notes[NOTES * index + 2] === 1);
      case TRUE[0]:
        return true;
      case FALSE[0]:
        return false;
      case NULL[0]:
        return null;
      default:
        return Number(this.text(start, end, false));
    }
  }

  /** The wanted member that a name of the object being checked stands for, or -1. */
  private wantedAt(parent: number, nameStart: number, nameEnd: number, hasEscape: boolean): number {
    const { wanted } = this;
    for (let i = 0; i < wanted.length; i++) {
      const member = wanted[i] as Members[number];
      if (member.parent === parent && this.isNamed(member.name, nameStart, nameEnd, hasEscape)) return i;
    }
    return -1;
  }

  private isNamed(name: string, start: number, end: number, hasEscape: boolean): boolean {
    if (hasEscape) return this.text(start, end, true) === name;
    // Wanted names are ASCII, so that a length in bytes is one in characters.
    if (end - start !== name.length) return false;
    for (let i = 0; i < name.length; i++) if (this.bytes[start + i] !== name.charCodeAt(i)) return false;
    return true;
  }

  /** Decodes what stands between two places. */
  private text(start: number, end: number, hasEscape: boolean): string {
    const text = this.bytes.toString("utf8", start, end);
    return hasEscape ? (JSON.parse(`"${text}"`) as string) : text;
  }

  private behindSpace(start: number): number {
    const { bytes } = this;
    // In what most senders send there is none.
    if (start < bytes.length && (bytes[start] as number) > 0x20) return start;
    let at = start;
    for (let byte = bytes[at]; byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09; byte = bytes[at]) at++;
    return at;
  }

  /** Each of these checks what begins at a place, and returns the place behind it, or {@link BROKEN}. */
  private value(start: number): number {
    switch (this.bytes[start]) {
      case OPEN_BRACE:
        return this.nested(start, CLOSE_BRACE);
      case OPEN_BRACKET:
        return this.nested(start, CLOSE_BRACKET);
      case QUOTE:
        return this.string(start);
      case TRUE[0]:
        return this.literal(start, TRUE);
      case FALSE[0]:
        return this.literal(start, FALSE);
      case NULL[0]:
        return this.literal(start, NULL);
      default:
        return this.number(start);
    }
  }

  private nested(start: number, close: number): number {
    if (this.level >= MAX_DEPTH) {
      this.tooDeep = true;
      return BROKEN;
    }
    this.level++;
    const first = this.behindSpace(start + 1);
    let end: number;
    if (this.bytes[first] === close) end = first + 1;
    else end = close === CLOSE_BRACE ? this.objectMembers(first) : this.arrayItems(first);
    this.level--;
    return end;
  }

  private arrayItems(first: number): number {
    let at = first;
    this.parent = NOWHERE;
    for (;;) {
      at = this.value(at);
      if (at === BROKEN) return BROKEN;
      at = this.behindSpace(at);
      const byte = this.bytes[at++];
      if (byte === CLOSE_BRACKET) return at;
      if (byte !== COMMA) return BROKEN;
      at = this.behindSpace(at);
    }
  }

  private objectMembers(first: number): number {
    const { bytes } = this;
    const firstName = this.namesUsed;
    const { parent } = this;
    let many: Set<string> | undefined;
    let at = first;
    for (;;) {
      const nameStart = at + 1;
      if (bytes[at] !== QUOTE) return BROKEN;
      at = this.string(at);
      if (at === BROKEN) return BROKEN;
      const nameEnd = at - 1;
      const nameHasEscape = this.stringHasEscape;
      if (many === undefined && (nameHasEscape || this.namesUsed - firstName >= 2 * FEW_NAMES)) {
        many = new Set();
        for (let i = firstName; i < this.namesUsed; i += 2)
          many.add(this.text(names[i] as number, names[i + 1] as number, false));
      }
      if (many === undefined) {
        if (this.isAmong(firstName, nameStart, nameEnd)) this.nameTwice = true;
        names[this.namesUsed++] = nameStart;
        names[this.namesUsed++] = nameEnd;
      } else {
        const name = this.text(nameStart, nameEnd, nameHasEscape);
        if (many.has(name)) this.nameTwice = true;
        many.add(name);
      }

      at = this.behindSpace(at);
      if (bytes[at] !== COLON) return BROKEN;
      const valueStart = this.behindSpace(at + 1);
      const index = parent === NOWHERE ? -1 : this.wantedAt(parent, nameStart, nameEnd, nameHasEscape);
      this.parent = index === -1 ? NOWHERE : index;
      at = this.value(valueStart);
      if (at === BROKEN) return BROKEN;
      if (index !== -1) {
        this.notes[NOTES * index] = valueStart;
        this.notes[NOTES * index + 1] = at;
        this.notes[NOTES * index + 2] = this.stringHasEscape ? 1 : 0;
      }
      at = this.behindSpace(at);
      const byte = bytes[at++];
      if (byte === CLOSE_BRACE) break;
      if (byte !== COMMA) return BROKEN;
      at = this.behindSpace(at);
    }
    this.namesUsed = firstName;
    return at;
  }

  /** Tells whether a name without escapes is, byte for byte, one of those from `first` on. */
  private isAmong(first: number, start: number, end: number): boolean {
    const { bytes } = this;
    for (let i = first; i < this.namesUsed; i += 2) {
      const other = names[i] as number;
      if ((names[i + 1] as number) - other !== end - start) continue;
      let same = 0;
      while (start + same < end && bytes[start + same] === bytes[other + same]) same++;
      if (start + same === end) return true;
    }
    return false;
  }

  private string(start: number): number {
    const { bytes } = this;
    let at = start + 1;
    this.stringHasEscape = false;
    for (;;) {
      const byte = bytes[at++];
      if (byte === QUOTE) return at;
      if (byte === undefined || byte < 0x20) return BROKEN;
      if (byte !== BACKSLASH) continue;
      this.stringHasEscape = true;
      const escaped = bytes[at++];
      if (escaped === LOWER_U) {
        for (const end = at + 4; at < end; at++) if (!isHexDigit(bytes[at])) return BROKEN;
      } else if (escaped === undefined || !ESCAPED.has(escaped)) return BROKEN;
    }
  }

  private number(start: number): number {
    const { bytes } = this;
    let at = bytes[start] === MINUS ? start + 1 : start;
    at = bytes[at] === ZERO ? at + 1 : this.digits(at);
    if (at !== BROKEN && bytes[at] === DOT) at = this.digits(at + 1);
    if (at !== BROKEN && (bytes[at] === 0x65 || bytes[at] === 0x45)) {
      at++;
      at = this.digits(bytes[at] === PLUS || bytes[at] === MINUS ? at + 1 : at);
    }
    return at;
  }

  private digits(start: number): number {
    const { bytes } = this;
    let at = start;
    for (let byte = bytes[at]; byte !== undefined && byte >= ZERO && byte <= NINE; byte = bytes[at]) at++;
    return at > start ? at : BROKEN;
  }

  private literal(start: number, expected: Uint8Array): number {
    let at = start;
    for (let i = 0; i < expected.length; i++) if (this.bytes[at++] !== expected[i]) return BROKEN;
    return at;
  }
}

function isHexDigit(byte: number | undefined): boolean {
  if (byte === undefined) return false;
  return (byte >= ZERO && byte <= NINE) || (byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66);
}
