/** A number of JSON that a double cannot keep, as it is written. */
export class ExactNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** As JSON, the number as it is written. */
  toJSON(): unknown {
    return (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(this.text);
  }
}

/** What every text has that has such a number. A double keeps 15 digits, unless the number is very large or small. */
const MAY_BE_EXACT = /[0-9.]{16}|[0-9.][eE][+-]?[0-9]{3}/;

/** Whether a text of JSON may have a number that a double would round. */
export const mayHaveExactNumbers = (text: string) => MAY_BE_EXACT.test(text);

/**
 * Parses JSON, with an {@link ExactNumber} in place of each number that a double would round. Throws like `JSON.parse`.
 */
export function parseExactJson(text: string): unknown {
  return mayHaveExactNumbers(text) ? JSON.parse(text, withExactNumbers) : JSON.parse(text);
}

/** The number that a text is, which has the form of a number of JSON. */
export function numberOf(text: string): number | ExactNumber {
  const value = Number(text);
  return isKept(value, text) ? value : new ExactNumber(text);
}

function withExactNumbers(_name: string, value: unknown, { source }: { source?: string } = {}): unknown {
  return typeof value === "number" && source !== undefined ? numberOf(source) : value;
}

/** Whether a double is written as the same number again. */
function isKept(value: number, text: string): boolean {
  if (/^-?[0-9]+$/.test(text)) return Number.isSafeInteger(value);
  return Number.isFinite(value) && areEqual(decimalOf(String(value)), decimalOf(text));
}

/** Compares two numbers by their exact values: negative if the first one is less, 0 if they are equal. */
export function compareNumbers(one: number | ExactNumber, other: number | ExactNumber): number {
  if (typeof one === "number" && typeof other === "number") return one - other;
  const [first, second] = [decimalOf(textOf(one)), decimalOf(textOf(other))];
  if (first.sign !== second.sign) return first.sign - second.sign;
  return first.sign * compareSizes(first, second);
}

const areEqual = (one: Decimal, other: Decimal) =>
  one.sign === other.sign && one.digits === other.digits && one.point === other.point;

const textOf = (number: number | ExactNumber) => (typeof number === "number" ? String(number) : number.text);

/** The number `0.DIGITS` times ten to the power of `point`. Zero has no digits. */
interface Decimal {
  sign: number;
  /** Without zeros at the beginning and the end. */
  digits: string;
  point: number;
}

function decimalOf(text: string): Decimal {
  const [, minus, whole = "", fraction = "", exponent = "0"] =
    /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/.exec(text) ?? [];
  const all = whole + fraction;
  const first = all.search(/[1-9]/);
  if (first === -1) return { sign: 0, digits: "", point: 0 };
  let end = all.length;
  while (all[end - 1] === "0") end--;
  return { sign: minus ? -1 : 1, digits: all.slice(first, end), point: whole.length - first + Number(exponent) };
}

/** The number as a text, which is the same for equal numbers however they are written. */
export function canonicalText({ text }: ExactNumber): string {
  const { sign, digits, point } = decimalOf(text);
  const isShort = point >= digits.length && point <= MAX_WHOLE_DIGITS;
  return `${sign < 0 ? "-" : ""}${isShort ? digits.padEnd(point, "0") : `0.${digits}e${point}`}`;
}

// Of a longer number, e.g. 1e9999, the zeros are not written.
const MAX_WHOLE_DIGITS = 64;

function compareSizes(one: Decimal, other: Decimal): number {
  if (one.point !== other.point) return one.point < other.point ? -1 : 1;
  if (one.digits === other.digits) return 0;
  return one.digits < other.digits ? -1 : 1;
}
