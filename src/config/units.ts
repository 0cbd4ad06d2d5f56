const UNIT_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Reads a duration such as `500ms`, `30s`, `15m`, `2h`, `7d`. Returns milliseconds, or null for other text. */
export function parseDurationMs(text: string): number | null {
  const match = /^([0-9]{1,15})(ms|s|m|h|d)$/.exec(text);
  if (!match) return null;
  const ms = Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS];
  return Number.isSafeInteger(ms) ? ms : null;
}

/** Reads `JWT_TTL`: a decimal integer and one of s, m, h, d. Returns seconds, or null for other text. */
export function parseTtlSeconds(text: string): number | null {
  const match = /^([0-9]+)([smhd])$/.exec(text);
  if (!match) return null;
  return (Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS]) / 1000;
}

const SIZE_BYTES = { "": 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 } as const;

/** Reads a size such as `65536`, `512k`, `1m`, `2g`. Returns bytes, or null for other text. */
export function parseSizeBytes(text: string): number | null {
  const match = /^([0-9]{1,12})([kmg]?)$/.exec(text.toLowerCase());
  if (!match) return null;
  return Number(match[1]) * SIZE_BYTES[match[2] as keyof typeof SIZE_BYTES];
}

/** A duration as {@link parseDurationMs} reads it, in the largest unit that divides it. */
export function formatDuration(ms: number): string {
  const [unit, unitMs] = Object.entries(UNIT_MS).findLast(([, size]) => ms % size === 0) ?? ["ms", 1];
  return `${ms / unitMs}${unit}`;
}

/** A size as {@link parseSizeBytes} reads it, in the largest unit that divides it. */
export function formatSize(bytes: number): string {
  const [unit, unitBytes] = Object.entries(SIZE_BYTES).findLast(([, size]) => bytes % size === 0) ?? ["", 1];
  return `${bytes / unitBytes}${unit}`;
}
