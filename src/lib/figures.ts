const UNITS = [
  { ms: 86_400_000, name: "days" },
  { ms: 3_600_000, name: "h" },
  { ms: 60_000, name: "min" },
  { ms: 1000, name: "s" },
];

/** A duration in the largest unit that it has at least two of, e.g. `90 s`, rounded down. */
export function durationText(ms: number): string {
  const unit = UNITS.find((candidate) => ms >= 2 * candidate.ms) ?? UNITS.findLast((candidate) => ms >= candidate.ms);
  if (unit === undefined) return `${Math.max(0, Math.round(ms))} ms`;
  return `${Math.floor(ms / unit.ms)} ${unit.name}`;
}

const SIZES = ["bytes", "KiB", "MiB", "GiB", "TiB"];

/** A number of bytes in the largest fitting unit, e.g. `1.5 GiB`. */
export function bytesText(bytes: number): string {
  const power = Math.min(SIZES.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, bytes)) / 10)));
  const value = bytes / 1024 ** power;
  return `${power === 0 || value >= 100 ? Math.round(value) : Math.round(value * 10) / 10} ${SIZES[power]}`;
}

/** The seconds since a time of `performance.now()`, to a tenth. */
export const secondsSince = (startedAt: number) => Number(((performance.now() - startedAt) / 1000).toFixed(1));
