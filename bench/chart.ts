import type { Row } from "./intake.ts";

const WIDTH = 720;
const LABEL = 220;
const BAR = 22;
const ROW = 34;
const TOP = 56;
const COLORS: Record<string, string> = { authserve: "#0b7285" };

/** Draws the medians as bars, with a line from the slowest to the fastest round. */
export function drawChart(rows: readonly Row[]): string {
  const longest = Math.max(...rows.map((row) => row.perSecond.max));
  const scale = (value: number) => (value / longest) * (WIDTH - LABEL - 110);
  const bars = rows.map((row, index) => {
    const y = TOP + index * ROW;
    const end = LABEL + scale(row.perSecond.median);
    const middle = y + BAR / 2;
    return `  <text x="${LABEL - 8}" y="${middle + 4}" text-anchor="end">${row.name}, ${row.connections}</text>
  <rect x="${LABEL}" y="${y}" width="${(end - LABEL).toFixed(1)}" height="${BAR}" fill="${COLORS[row.name] ?? "#adb5bd"}"/>
  <line x1="${(LABEL + scale(row.perSecond.min)).toFixed(1)}" x2="${(LABEL + scale(row.perSecond.max)).toFixed(1)}" y1="${middle}" y2="${middle}" stroke="#212529"/>
  <text x="${(LABEL + scale(row.perSecond.max) + 8).toFixed(1)}" y="${middle + 4}">${Math.round(row.perSecond.median).toLocaleString("en")}/s</text>`;
  });
  const height = TOP + rows.length * ROW + 12;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" font-family="sans-serif" font-size="13">
  <title>Signed webhooks accepted a second</title>
  <rect width="${WIDTH}" height="${height}" fill="#ffffff"/>
  <text x="16" y="24" font-size="15" font-weight="bold">Signed webhooks accepted a second, by server and connections</text>
  <text x="16" y="42" fill="#495057">Median of the rounds; the line runs from the slowest to the fastest. Only authserve and HMAC + SQLite alone wait for the disk.</text>
${bars.join("\n")}
</svg>
`;
}
