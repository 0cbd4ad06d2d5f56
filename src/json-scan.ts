import { isUtf8 } from "node:buffer";

const MAX_DEPTH = 64;

// Members of this many levels are remembered with their places; deeper ones are only checked.
const REMEMBERED_LEVELS = 2;

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

/** What may follow a backslash, besides `u` and four digits. */
const ESCAPED = new Set(ascii('"\\/bfnrt'));

/** A member of an object in a checked text; places count bytes, `end` is behind the last one. */
interface Member {
  level: number;
  /** Between the quotes, as written. */
  nameStart: number;
  nameEnd: number;
  nameHasEscape: boolean;
  valueStart: number;
  valueEnd: number;
  valueHasEscape: boolean;
  /** A text that has been read once. */
  text: string | undefined;
}

/** A JSON text that has been checked whole, and from which single values can be read. */
export interface ScannedJson {
  isObject: boolean;
  /**
   * The value of a member, or of a member's member: a text, number or literal as such, an object or array as
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
export function scanJson(bytes: Buffer): JsonScan {
  if (!isUtf8(bytes)) return { ok: false, reason: "is not UTF-8" };
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf)
    return { ok: false, reason: "starts with a byte order mark" };
  const scanner = new Scanner(bytes);
  if (!scanner.isJson()) {
    return { ok: false, reason: scanner.tooDeep ? `is nested deeper than ${MAX_DEPTH} levels` : "is not JSON" };
  }
  if (scanner.nameTwice) return { ok: false, reason: "has a member name twice" };
  return { ok: true, json: scanner };
}

class Scanner implements ScannedJson {
  tooDeep = false;
  nameTwice = false;
  isObject = false;
  private readonly bytes: Buffer;
  private at = 0;
  private level = 0;
  private readonly members: Member[] = [];
  /** Start and end of the names of the objects that are open, each object's behind its parent's. */
  private readonly names: number[] = [];
  private stringHasEscape = false;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  isJson(): boolean {
    this.skipSpace();
    this.isObject = this.bytes[this.at] === OPEN_BRACE;
    if (!this.value()) return false;
    this.skipSpace();
    return this.at === this.bytes.length;
  }

  get(name: string, innerName?: string): unknown {
    if (!this.isObject) return undefined;
    const outer = this.find(1, name, 0, this.bytes.length);
    if (outer === undefined || innerName === undefined) return outer && this.read(outer);
    if (this.bytes[outer.valueStart] !== OPEN_BRACE) return undefined;
    const inner = this.find(2, innerName, outer.valueStart, outer.valueEnd);
    return inner && this.read(inner);
  }

  private find(level: number, name: string, from: number, to: number): Member | undefined {
    for (const member of this.members) {
      if (member.level !== level || member.nameStart < from || member.nameEnd > to) continue;
      if (this.isNamed(member, name)) return member;
    }
    return undefined;
  }

  private isNamed({ nameStart, nameEnd, nameHasEscape }: Member, name: string): boolean {
    if (nameHasEscape) return this.text(nameStart, nameEnd, true) === name;
    // Names that are asked for are ASCII, so that a length in bytes is one in characters.
    if (nameEnd - nameStart !== name.length) return false;
    for (let i = 0; i < name.length; i++) if (this.bytes[nameStart + i] !== name.charCodeAt(i)) return false;
    return true;
  }

  private read(member: Member): unknown {
    const { valueStart, valueEnd, valueHasEscape } = member;
    switch (this.bytes[valueStart]) {
      case OPEN_BRACE:
        return OBJECT;
      case OPEN_BRACKET:
        return ARRAY;
      case QUOTE:
        member.text ??= this.text(valueStart + 1, valueEnd - 1, valueHasEscape);
        return member.text;
      case TRUE[0]:
        return true;
      case FALSE[0]:
        return false;
      case NULL[0]:
        return null;
      default:
        return Number(this.text(valueStart, valueEnd, false));
    }
  }

  /** Decodes what stands between two places. */
  private text(start: number, end: number, hasEscape: boolean): string {
    const text = this.bytes.toString("utf8", start, end);
    return hasEscape ? (JSON.parse(`"${text}"`) as string) : text;
  }

  private skipSpace(): void {
    const { bytes } = this;
    let { at } = this;
    for (let byte = bytes[at]; byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09; byte = bytes[at]) at++;
    this.at = at;
  }

  /** Each of these checks what stands at `at` and leaves `at` behind it; false when it is not JSON. */
  private value(): boolean {
    switch (this.bytes[this.at]) {
      case OPEN_BRACE:
        return this.nested(CLOSE_BRACE);
      case OPEN_BRACKET:
        return this.nested(CLOSE_BRACKET);
      case QUOTE:
        return this.string();
      case TRUE[0]:
        return this.literal(TRUE);
      case FALSE[0]:
        return this.literal(FALSE);
      case NULL[0]:
        return this.literal(NULL);
      default:
        return this.number();
    }
  }

  private nested(close: number): boolean {
    if (this.level >= MAX_DEPTH) {
      this.tooDeep = true;
      return false;
    }
    this.at++;
    this.level++;
    this.skipSpace();
    if (this.bytes[this.at] === close) this.at++;
    else if (!(close === CLOSE_BRACE ? this.objectMembers() : this.arrayItems())) return false;
    this.level--;
    return true;
  }

  private arrayItems(): boolean {
    for (;;) {
      this.skipSpace();
      if (!this.value()) return false;
      this.skipSpace();
      const byte = this.bytes[this.at++];
      if (byte === CLOSE_BRACKET) return true;
      if (byte !== COMMA) return false;
    }
  }

  private objectMembers(): boolean {
    const { names } = this;
    const firstName = names.length;
    let many: Set<string> | undefined;
    for (;;) {
      this.skipSpace();
      const nameStart = this.at + 1;
      if (this.bytes[this.at] !== QUOTE || !this.string()) return false;
      const nameEnd = this.at - 1;
      const nameHasEscape = this.stringHasEscape;
      if (many === undefined && (nameHasEscape || names.length - firstName >= 2 * FEW_NAMES)) {
        many = new Set();
        for (let i = firstName; i < names.length; i += 2)
          many.add(this.text(names[i] as number, names[i + 1] as number, false));
      }
      if (many === undefined) {
        if (this.isAmong(firstName, nameStart, nameEnd)) this.nameTwice = true;
        names.push(nameStart, nameEnd);
      } else {
        const name = this.text(nameStart, nameEnd, nameHasEscape);
        if (many.has(name)) this.nameTwice = true;
        many.add(name);
      }

      this.skipSpace();
      if (this.bytes[this.at++] !== COLON) return false;
      this.skipSpace();
      const valueStart = this.at;
      if (!this.value()) return false;
      if (this.level <= REMEMBERED_LEVELS) {
        const { level, at: valueEnd, stringHasEscape: valueHasEscape } = this;
        const text = undefined;
        this.members.push({ level, nameStart, nameEnd, nameHasEscape, valueStart, valueEnd, valueHasEscape, text });
      }
      this.skipSpace();
      const byte = this.bytes[this.at++];
      if (byte === CLOSE_BRACE) break;
      if (byte !== COMMA) return false;
    }
    names.length = firstName;
    return true;
  }

  /** Tells whether a name without escapes is, byte for byte, one of those from `first` on. */
  private isAmong(first: number, start: number, end: number): boolean {
    const { bytes, names } = this;
    for (let i = first; i < names.length; i += 2) {
      const other = names[i] as number;
      if ((names[i + 1] as number) - other !== end - start) continue;
      let same = 0;
      while (start + same < end && bytes[start + same] === bytes[other + same]) same++;
      if (start + same === end) return true;
    }
    return false;
  }

  private string(): boolean {
    const { bytes } = this;
    let at = this.at + 1;
    this.stringHasEscape = false;
    for (;;) {
      const byte = bytes[at++];
      if (byte === QUOTE) break;
      if (byte === undefined || byte < 0x20) return false;
      if (byte !== BACKSLASH) continue;
      this.stringHasEscape = true;
      const escaped = bytes[at++];
      if (escaped === LOWER_U) {
        for (const end = at + 4; at < end; at++) if (!isHexDigit(bytes[at])) return false;
      } else if (escaped === undefined || !ESCAPED.has(escaped)) return false;
    }
    this.at = at;
    return true;
  }

  private number(): boolean {
    const { bytes } = this;
    if (bytes[this.at] === MINUS) this.at++;
    if (bytes[this.at] === ZERO) this.at++;
    else if (!this.digits()) return false;
    if (bytes[this.at] === DOT) {
      this.at++;
      if (!this.digits()) return false;
    }
    if (bytes[this.at] === 0x65 || bytes[this.at] === 0x45) {
      this.at++;
      if (bytes[this.at] === PLUS || bytes[this.at] === MINUS) this.at++;
      if (!this.digits()) return false;
    }
    return true;
  }

  private digits(): boolean {
    const start = this.at;
    for (
      let byte = this.bytes[this.at];
      byte !== undefined && byte >= ZERO && byte <= NINE;
      byte = this.bytes[this.at]
    ) {
      this.at++;
    }
    return this.at > start;
  }

  private literal(expected: Uint8Array): boolean {
    for (const byte of expected) if (this.bytes[this.at++] !== byte) return false;
    return true;
  }
}

function isHexDigit(byte: number | undefined): boolean {
  if (byte === undefined) return false;
  return (byte >= ZERO && byte <= NINE) || (byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66);
}
