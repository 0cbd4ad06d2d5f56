import type { Spread } from "./load.ts";

const withDigits =
  (digits: number) =>
  ({ median, min, max }: Spread) =>
    `${median.toFixed(digits)} (${min.toFixed(digits)}–${max.toFixed(digits)})`;

/** The median with the minimum and maximum, rounded. */
export const whole = withDigits(0);
export const tenths = withDigits(1);
export const hundredths = withDigits(2);

export function printHead(headings: readonly string[]): void {
  printRow(headings);
  console.log(`|${"---|".repeat(headings.length)}`);
}

export function printRow(cells: readonly (string | number)[]): void {
  console.log(`| ${cells.join(" | ")} |`);
}
