// Records `authserve listen` in a terminal as a moving picture. Needs tmux.
//
//   node scripts/terminal.ts docs/terminal-listen.svg

import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createServer, type Server as HttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { EXECUTABLE } from "../test/helpers/command.ts";
import { type Server, startServer } from "../test/helpers/server.ts";
import { workingDir } from "../test/helpers/working-dir.ts";

const COLUMNS = 100;
const ROWS = 12;
const TITLE = "authserve listen in a terminal";

/** What the terminal shows for a while. */
interface Frame {
  lines: string[];
  seconds: number;
}

const tmux = (...args: string[]) =>
  execFileSync("tmux", ["-L", `recording-${process.pid}`, ...args], { encoding: "utf8" });

async function startApp(port: number): Promise<HttpServer> {
  const app = createServer((request, response) => {
    request.resume().on("end", () => response.writeHead(200).end());
  });
  await new Promise<void>((resolve) => app.listen(port, "127.0.0.1", resolve));
  return app;
}

/** Runs the listener, and takes a frame after each step. */
async function record(server: Server, app: HttpServer): Promise<Frame[]> {
  const { port } = app.address() as AddressInfo;
  const { dir } = server;
  writeFileSync(join(dir, "token.txt"), (await server.run(["tokens", "create", "laptop", "--scope", "listen"])).stdout);
  writeFileSync(join(dir, "local.txt"), "a secret of this laptop");
  const path = `${dirname(EXECUTABLE)}:${process.env.PATH}`;
  writeFileSync(join(dir, "bashrc"), `PS1='$ '\nexport PATH='${path}' XDG_STATE_HOME='${dir}' LC_ALL=C.UTF-8\n`);
  const shown = (text: string) =>
    text.replaceAll(server.url, "https://auth.example.com").replaceAll(`localhost:${port}`, "localhost:3000");
  const frames: Frame[] = [];
  const take = (seconds: number) => {
    const lines = shown(tmux("capture-pane", "-e", "-p", "-t", "a")).split("\n");
    frames.push({ lines: lines.slice(0, ROWS), seconds });
  };
  const send = (type: string, source = "stripe") =>
    server.run(["send", "--source", source, "--type", type]).then(() => delay(400));
  const type = (...keys: string[]) => tmux("send-keys", "-t", "a", ...keys);
  const size = ["-x", String(COLUMNS), "-y", String(ROWS)];
  tmux("new-session", "-d", ...size, "-s", "a", "-c", dir, "bash", "--rcfile", join(dir, "bashrc"), "-i");
  try {
    await delay(1500);
    const command = `authserve listen --forward http://localhost:${port}/hook --sign-with stripe --secret-file local.txt --server ${server.url} --token-file token.txt`;
    type("-l", command);
    await delay(300);
    take(2);
    type("Enter");
    await delay(3000);
    take(1);
    for (const name of ["customer.subscription.updated", "invoice.paid", "charge.refunded"]) {
      await send(name);
      take(1);
    }
    await new Promise((resolve) => app.close(resolve));
    await send("invoice.payment_failed");
    await delay(1000);
    take(2);
    const again = await startApp(port);
    await delay(1500);
    take(2);
    type("r");
    await delay(700);
    take(3);
    type("q");
    await delay(1000);
    await new Promise((resolve) => again.close(resolve));
    return frames;
  } finally {
    tmux("kill-server");
  }
}

const COLOURS: Record<string, string> = { 31: "#f48771", 32: "#89d185", 33: "#e5c07b" };
const [PLAIN, BRIGHT, DIM, BACKGROUND] = ["#d4d4d4", "#ffffff", "#808080", "#1e1e1e"];
const [CHARACTER, LINE, MARGIN, FONT] = [7.8, 17, 12, 13];
const FAMILY = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace";

const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

/** The colour after a code. 49 is about the background. */
function colourOf(code: string, before: string): string {
  if (code === "1") return BRIGHT;
  if (code === "49") return before;
  return code === "2" ? DIM : (COLOURS[code] ?? PLAIN);
}

/** A line with the codes of its colours as texts of SVG. Returns the colour that goes on in the next line, too. */
function lineSvg(line: string, row: number, before: string): { svg: string; fill: string } {
  let column = 0;
  let fill = before;
  let svg = "";
  for (const [index, part] of line.split("\u001b[").entries()) {
    const end = index === 0 ? -1 : part.indexOf("m");
    for (const code of index === 0 ? [] : part.slice(0, end).split(";")) fill = colourOf(code, fill);
    const text = part.slice(end + 1);
    const x = (MARGIN + column * CHARACTER).toFixed(1);
    const length = (text.length * CHARACTER).toFixed(1);
    column += text.length;
    if (text.trim() === "") continue;
    svg += `<text x="${x}" y="${24 + row * LINE}" textLength="${length}" fill="${fill}" xml:space="preserve">${escaped(text)}</text>\n`;
  }
  return { svg, fill };
}

function linesSvg(lines: readonly string[]): string {
  let colour: string = PLAIN;
  let all = "";
  for (const [row, line] of lines.entries()) {
    const { svg, fill } = lineSvg(line, row, colour);
    all += svg;
    colour = fill;
  }
  return all;
}

/** A picture that shows one frame after another, and only the last one to readers who want no motion. */
function pictureOf(frames: readonly Frame[]): string {
  const total = frames.reduce((sum, { seconds }) => sum + seconds, 0);
  const [width, height] = [Math.ceil(2 * MARGIN + COLUMNS * CHARACTER), ROWS * LINE + 20];
  let at = 0;
  const rules: string[] = [];
  const groups = frames.map(({ lines, seconds }, index) => {
    const [from, to] = [at, at + seconds].map((time) => ((100 * time) / total).toFixed(2));
    at += seconds;
    rules.push(
      `@keyframes f${index}{0%{opacity:0}${from}%{opacity:1}${to}%{opacity:0}}.f${index}{animation-name:f${index}}`,
    );
    return `<g class="f f${index}">\n${linesSvg(lines)}</g>\n`;
  });
  const last = `.f${frames.length - 1}`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" font-family="${FAMILY}" font-size="${FONT}">
<title>${TITLE}</title>
<style>.f{opacity:0;animation:${total}s step-end infinite}${rules.join("")}@media(prefers-reduced-motion:reduce){.f{animation:none}${last}{opacity:1}}</style>
<rect width="${width}" height="${height}" rx="6" fill="${BACKGROUND}"/>
${groups.join("")}</svg>
`;
}

const [out] = process.argv.slice(2);
if (out === undefined)
  throw new Error("name the file of the picture, e.g. node scripts/terminal.ts docs/terminal-listen.svg");
const dir = workingDir();
writeFileSync(join(dir, "authserve.yaml"), "sources:\n  stripe: { preset: stripe, secrets: [env:STRIPE_SECRET] }\n");
await using server = await startServer({ dir, env: { STRIPE_SECRET: "a secret of the server, long enough" } });
writeFileSync(out, pictureOf(await record(server, await startApp(0))));
