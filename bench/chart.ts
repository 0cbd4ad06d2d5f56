import type { Row } from "./intake.ts";
import type { Spread } from "./load.ts";

const WIDTH = 720;
const LABEL = 220;
const BAR = 22;
const ROW = 34;
const TOP = 56;

/** A rate a second to draw. */
export interface Bar {
  label: string;
  value: Spread;
}

/** Draws deliveries a second of the bench of intake. */
export function drawChart(rows: readonly Row[]): string {
  const bars = rows.map(({ name, connections, perSecond }) => ({ label: `${name}, ${connections}`, value: perSecond }));
  return drawBars(bars, {
    title: "Signed webhooks accepted a second, by server and connections",
    note: "Median of the rounds; the line runs from the slowest to the fastest. Only authserve and HMAC + SQLite alone wait for the disk.",
  });
}

/** Draws the medians as bars, with a line from the slowest to the fastest round. Ours have a color. */
export function drawBars(all: readonly Bar[], { title, note }: { title: string; note: string }): string {
  const longest = Math.max(...all.map(({ value }) => value.max));
  const scale = (rate: number) => (rate / longest) * (WIDTH - LABEL - 110);
  const bars = all.map(({ label, value }, index) => {
    const y = TOP + index * ROW;
    const end = LABEL + scale(value.median);
    const middle = y + BAR / 2;
    return `  <text x="${LABEL - 8}" y="${middle + 4}" text-anchor="end">${label}</text>
  <rect x="${LABEL}" y="${y}" width="${(end - LABEL).toFixed(1)}" height="${BAR}" fill="${label.startsWith("authserve") ? "#0b7285" : "#adb5bd"}"/>
  <line x1="${(LABEL + scale(value.min)).toFixed(1)}" x2="${(LABEL + scale(value.max)).toFixed(1)}" y1="${middle}" y2="${middle}" stroke="#212529"/>
  <text x="${(LABEL + scale(value.max) + 8).toFixed(1)}" y="${middle + 4}">${Math.round(value.median).toLocaleString("en")}/s</text>`;
  });
  const height = TOP + all.length * ROW + 12;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" font-family="sans-serif" font-size="13">
  <title>${title}</title>
  <rect width="${WIDTH}" height="${height}" fill="#ffffff"/>
  <text x="16" y="24" font-size="15" font-weight="bold">${title}</text>
  <text x="16" y="42" fill="#495057">${note}</text>
${bars.join("\n")}
</svg>
`;
}
