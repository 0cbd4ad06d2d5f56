/** A goal for a figure, compared with the median of the rounds. */
interface Goal {
  least?: number;
  most?: number;
}

export const GOALS = {
  /** At 64 connections, like the next two. */
  intakeOfBare: { least: 0.45 },
  intakeOfNest: { least: 4 },
  intakeP99Ms: { most: 30 },
  manySources: { least: 0.95 },
  verifyMicroseconds: { most: 15 },
  drainLog: { least: 8000 },
  drainHttp: { least: 3000 },
  orderedOfUnordered: { least: 0.8 },
  claimMs: { most: 3 },
  postgresIntake: { least: 0.6 },
  postgresP99Ms: { most: 40 },
  postgresDrain: { least: 3000 },
  meOfBare: { least: 0.75 },
  executableMb: { most: 120 },
  versionOfBare: { most: 2.5 },
  readyMs: { most: 300 },
  idleMb: { most: 110 },
} satisfies Record<string, Goal>;

/** A figure and its goal as a line of text. */
export function figureLine(name: string, value: number, unit: string, goal?: Goal): string {
  const { least, most } = goal ?? {};
  const isMissed = !(value >= (least ?? value) && value <= (most ?? value));
  const beside = goal
    ? `  goal ${least === undefined ? `<= ${most}` : `>= ${least}`}${isMissed ? "  MISSED" : ""}`
    : "";
  return `${name.padEnd(28)}${value.toFixed(unit === "x" ? 2 : 1).padStart(8)} ${unit}${beside}`;
}
