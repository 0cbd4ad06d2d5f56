// Makes the pictures of commands on a terminal. Needs `script` of Debian's bsdutils.
//
//   node scripts/terminals.ts docs

import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { deliver } from "../test/helpers/client.ts";
import { EXECUTABLE } from "../test/helpers/command.ts";
import { type Server, startServer } from "../test/helpers/server.ts";
import { stats } from "../test/helpers/stored-events.ts";
import { startTarget } from "../test/helpers/target.ts";
import { until } from "../test/helpers/until.ts";

const FAILED = "evt_1PqRtCLkdIwHu7ix9QfW2mZd";
const EVENTS = [
  { id: "evt_1PqRs7LkdIwHu7ix0K2Xb3aT", type: "payment_intent.succeeded" },
  { id: FAILED, type: "order.refunded", amount: 1000, currency: "eur", status: "succeeded" },
  { id: "evt_1PqRuJLkdIwHu7ixTz5sV8Ye", type: "customer.subscription.updated" },
  { id: "evt_1PqRvQLkdIwHu7ixB7nL4pGh", type: "checkout.session.async_payment_succeeded" },
];
const PICTURES = [
  { name: "list", columns: 120, args: ["events", "list"] },
  { name: "show", columns: 80, args: ["events", "show", FAILED] },
  { name: "doctor", columns: 80, args: ["doctor"] },
];

/** The output of a command on a terminal, with its escape sequences. */
function onTerminal({ dir, env }: Server, args: readonly string[], columns: number): string {
  const command = `stty cols ${columns} rows 60; ${EXECUTABLE} ${args.join(" ")}`;
  const options = {
    cwd: dir,
    env: { PATH: process.env.PATH, TERM: "xterm-256color", ...env },
    encoding: "utf8",
  } as const;
  return spawnSync("script", ["-qec", command, "/dev/null"], options).stdout.replaceAll("\r", "");
}

interface Span {
  column: number;
  text: string;
  style: string;
}

const WIDTH = 7.8;
const HEIGHT = 17;
const PLAIN = "#d4d4d4";
const COLOURS: Record<string, string> = {
  31: "#f48771",
  32: "#89d185",
  33: "#e5c07b",
  35: "#c586c0",
  90: "#808080",
};

function svgOf(args: readonly string[], columns: number, output: string): string {
  const prompt: Span[] = [
    { column: 0, text: "$", style: 'fill="#808080"' },
    { column: 2, text: `authserve ${args.join(" ")}`, style: 'fill="#ffffff"' },
  ];
  const lines = [
    prompt,
    ...output
      .trimEnd()
      .split("\n")
      .flatMap((line) => wrapped(spansOf(line), columns)),
  ];
  const size = `width="${Math.round(24 + columns * WIDTH)}" height="${20 + lines.length * HEIGHT}"`;
  const box = /"(\d+)".*"(\d+)"/.exec(size)?.slice(1).join(" ");
  const font = `font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="13"`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" ${size} viewBox="0 0 ${box}" ${font}>`,
    `<rect ${size} rx="6" fill="#1e1e1e"/>`,
    ...lines.flatMap((spans, index) => spans.map((span) => textOf(span, 24 + index * HEIGHT))),
    "</svg>\n",
  ].join("\n");
}

function textOf({ column, text, style }: Span, y: number): string {
  const place = `x="${(12 + column * WIDTH).toFixed(1)}" y="${y}" textLength="${(text.length * WIDTH).toFixed(1)}"`;
  const shown = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
  return `<text ${place} ${style} xml:space="preserve">${shown}</text>`;
}

const ESCAPE = new RegExp(`${String.fromCharCode(27)}\\[([\\d;]*)m`);

/** The parts of a line that have one style each. */
function spansOf(line: string): Span[] {
  const spans: Span[] = [];
  let column = 0;
  let codes: string[] = [];
  for (const [index, part] of line.split(ESCAPE).entries()) {
    // Each other part is the code of an escape sequence.
    if (index % 2 === 1) codes = /^(?:0|22|39)?$/.test(part) ? [] : [...codes, part];
    else if (part !== "") {
      const bold = codes.includes("1") ? ' font-weight="bold"' : "";
      const colour = codes.map((one) => COLOURS[one]).findLast(Boolean) ?? PLAIN;
      spans.push({ column, text: part, style: `fill="${colour}"${bold}` });
      column += part.length;
    }
  }
  return spans;
}

/** Breaks a line where the terminal does. */
function wrapped(spans: readonly Span[], columns: number): Span[][] {
  const parts = spans.flatMap(({ column, text, style }) =>
    Array.from(text, (character, index) => ({ column: column + index, text: character, style })),
  );
  const lines = Object.values(Object.groupBy(parts, ({ column }) => Math.floor(column / columns)));
  return lines.map((line = []) => joined(line.map((part) => ({ ...part, column: part.column % columns }))));
}

/** Joins neighbours of the same style. */
function joined(parts: readonly Span[]): Span[] {
  const spans: Span[] = [];
  for (const { column, text, style } of parts) {
    const last = spans.at(-1);
    if (last?.style === style) last.text += text;
    else spans.push({ column, text, style });
  }
  return spans;
}

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error("name the folder of the pictures, e.g. node scripts/terminals.ts docs");

await using target = await startTarget();
target.answer(({ headers }, response) => {
  const isRefused = headers["x-event-type"] === "order.refunded";
  response.writeHead(isRefused ? 500 : 200).end(isRefused ? '{"error":"order 1042 is closed",\n "retry":false}' : "");
});
await using server = await startServer({
  env: { FORWARD_URL: target.url, RETRY_ATTEMPTS: "3", RETRY_BASE_DELAY: "500ms" },
});
for (const event of EVENTS) await deliver(server, event);
await until(async () => (await stats(server)).failed === 1);
for (const { name, columns, args } of PICTURES)
  writeFileSync(join(folder, `terminal-${name}.svg`), svgOf(args, columns, onTerminal(server, args, columns)));
