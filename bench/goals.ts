/** A goal for a figure, compared with the median of the rounds. */
interface Goal {
  least?: number;
  most?: number;
}

export const GOALS = {
  /** Of "HMAC + SQLite alone", at 64 and at 256 connections. */
  intakeOfMinimum: { least: 0.85 },
  /** At 64 connections, like the next two. */
  intakeOfBare: { least: 0.45 },
  intakeOfNest: { least: 4 },
  intakeP99Ms: { most: 30 },
  manySources: { least: 0.95 },
  encryptedIntake: { least: 0.9 },
  encryptedSearchSeconds: { most: 5 },
  verifyMicroseconds: { most: 15 },
  drainLog: { least: 8000 },
  drainHttp: { least: 3000 },
  orderedOfUnordered: { least: 0.8 },
  drainSqlite: { least: 15_000 },
  /** Of graphile-worker with batched completion, of pg-boss, and of BullMQ that waits for the disk. */
  drainOfGraphile: { least: 0.5 },
  drainOfQueues: { least: 1 },
  /** At 200 deliveries a second. */
  receiptP99Ms: { most: 50 },
  claimMs: { most: 3 },
  postgresIntake: { least: 0.6 },
  postgresP99Ms: { most: 40 },
  postgresDrain: { least: 3000 },
  meOfBare: { least: 0.75 },
  verifyWithRules: { least: 0.8 },
  executableMb: { most: 120 },
  versionOfBare: { most: 1.3 },
  readyMs: { most: 250 },
  idleMb: { most: 115 },
} satisfies Record<string, Goal>;

/** How far a figure may be from that of another commit, as a ratio. Wide, because machines are rarely quiet. */
export const COMPARED = {
  "deliveries/s": { least: 0.75 },
  "jobs/s": { least: 0.75 },
  "start, ms": { most: 1.3 },
  "memory when idle, MB": { most: 1.1 },
} satisfies Record<string, Goal>;

/** A goal as text, with a mark if a value misses it. */
export function boundOf(value: number, { least, most }: Goal): string {
  const isMissed = !(value >= (least ?? value) && value <= (most ?? value));
  return `${least === undefined ? `<= ${most}` : `>= ${least}`}${isMissed ? "  MISSED" : ""}`;
}

/** A figure and its goal as a line of text. */
export function figureLine(name: string, value: number, unit: string, goal?: Goal): string {
  const beside = goal ? `  goal ${boundOf(value, goal)}` : "";
  return `${name.padEnd(28)}${value.toFixed(unit === "x" ? 2 : 1).padStart(8)} ${unit}${beside}`;
}
