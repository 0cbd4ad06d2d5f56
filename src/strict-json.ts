import { scanJson } from "./json-scan.ts";

/** A parsed value, or the reason the text is refused, as the end of a sentence about it. */
export type StrictJson = { ok: true; value: unknown } | { ok: false; reason: string };

/** Parses JSON that {@link scanJson} lets through. */
export function parseStrictJson(bytes: Buffer): StrictJson {
  const scan = scanJson(bytes);
  return scan.ok ? { ok: true, value: JSON.parse(bytes.toString("utf8")) } : scan;
}
