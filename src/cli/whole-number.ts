import { OperatorError } from "../errors.ts";

/**
 * Reads an option that is a whole number from 1 to `most`, which is below ten million. Throws {@link OperatorError}.
 */
export function wholeNumber(option: string, text: string, most: number): number {
  const number = /^[0-9]{1,7}$/.test(text) ? Number(text) : 0;
  if (number >= 1 && number <= most) return number;
  throw new OperatorError({ found: `${option} is not usable`, remedy: `give a whole number from 1 to ${most}` });
}

const MOST_PER_SECOND = 100_000;

/** Reads an option that is a rate, such as `50/s` or `50`. */
export function perSecond(option: string, text: string): number {
  return wholeNumber(option, text.replace(/\/s$/, ""), MOST_PER_SECOND);
}
