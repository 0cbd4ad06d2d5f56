import { printData } from "./output.ts";
import { styled } from "./table.ts";

const WIDTH = 18;

/** Prints a fact as a line: its name, and what it is. */
export function printFact(label: string, text: string): void {
  printData(styled("bold", label.padEnd(WIDTH)) + text);
}

/** A fact for a person. A list has commas, and what is not known a dash. */
export function factText(value: unknown): string {
  if (value === null) return "-";
  if (Array.isArray(value) && value.length === 0) return "none";
  if (Array.isArray(value)) return value.join(", ");
  if (typeof value !== "object") return String(value);
  const parts = Object.values(value).filter((part) => part !== null);
  return parts.map(factText).join("; ");
}
