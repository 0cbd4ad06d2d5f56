import { styleText } from "node:util";
import { printable, printableLines } from "./printable.ts";

const LEVEL_STYLE: Record<string, Parameters<typeof styleText>[0]> = {
  fatal: "red",
  error: "red",
  warn: "yellow",
  info: "green",
  debug: "gray",
};

/** Formats a JSON log line for people: time of day (UTC), level, message, then the other fields except `event`. */
export function logText(json: string): string {
  const { level, time, message, stack, event: _, ...fields } = JSON.parse(json) as Record<string, unknown>;
  const name = String(level);
  const clock = String(time).slice(11, 23);
  const words = [
    styleText("gray", clock, { stream: process.stdout }),
    styleText(LEVEL_STYLE[name] ?? "reset", name.padEnd(5), { stream: process.stdout }),
    printable(String(message)),
    ...Object.entries(fields).map(([key, value]) => `${key}=${valueText(value)}`),
  ];
  const trace = stack === undefined ? "" : `\n${printableLines(String(stack))}`;
  return `${words.join(" ")}${trace}\n`;
}

function valueText(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return printable(/^[^\s"=]+$/.test(text) || typeof value !== "string" ? text : JSON.stringify(text));
}
