import type { HeardEvent } from "../../events/listening.ts";
import { printable } from "../../lib/printable.ts";
import { cut, stringWidth, styled } from "../table.ts";
import type { View } from "./forward.ts";
import { isSuccess, outcomeOf } from "./lines.ts";
import type { TargetAnswer } from "./target.ts";

/** What the keys of the screen do. */
interface Keys {
  resend(): void;
  pause(isPaused: boolean): void;
  /** Tells where. */
  open(event: HeardEvent): string;
  quit(): void;
}

/** A view of the whole terminal. */
interface Screen extends View {
  /** From then on keys are read. */
  start(keys: Keys): void;
  close(): void;
}

interface Shown {
  event: HeardEvent;
  answer: TargetAnswer | null;
}

/** What the screen shows. */
interface Model {
  /** What it listens to, and where it sends. */
  title: string;
  /** The newest first. */
  shown: readonly Shown[];
  count: number;
  isPaused: boolean;
  waitsFor: string | null;
  note: string | null;
}

const ENTER = "\u001b[?1049h\u001b[?25l";
const LEAVE = "\u001b[?25h\u001b[?1049l";
const HOME = "\u001b[H";
const CLEAR_LINE = "\u001b[K";
const CLEAR_BELOW = "\u001b[J";
const CTRL_C = "\u0003";
const REMEMBERED = 1000;
const KEYS = "r resend the last   p pause   o open in the browser   q quit";

/** The lines of a screen with this many columns and rows, without line ends. */
export function screenLines(model: Model, columns: number, rows: number): string[] {
  const { title, shown, count, isPaused, waitsFor, note } = model;
  const state = isPaused ? "paused" : waitsFor === null ? "listening" : `waiting: ${waitsFor}`;
  const head = [
    styled("bold", cut(printable(`authserve listen  ${title}`), columns)),
    styled(isPaused || waitsFor !== null ? "yellow" : "green", cut(printable(`${state}, ${count} sent`), columns)),
    "",
  ];
  const foot = ["", styled("dim", cut(note === null ? KEYS : printable(note), columns))];
  const space = Math.max(0, rows - head.length - foot.length);
  const newest = shown.slice(0, space);
  const widest = (text: (one: Shown) => string) => Math.max(0, ...newest.map((one) => stringWidth(text(one))));
  // The outcome is never cut: the other columns give way.
  const room = columns - TIME_WIDTH - widest(outcomeText) - widest(msText) - 2 * 5;
  const widths = shares(room, [widest(sourceText), widest(typeText), widest(idText)]);
  const body = newest.toReversed().map((one) => lineOf(one, [...widths, widest(outcomeText)]));
  return [...head, ...body, ...Array.from({ length: space - body.length }, () => ""), ...foot];
}

const sourceText = ({ event }: Shown) => event.source;
const typeText = ({ event }: Shown) => printable(event.type);
const idText = ({ event }: Shown) => printable(event.eventId);
const outcomeText = ({ answer }: Shown) => printable(outcomeOf(answer));
const msText = ({ answer }: Shown) => (answer === null ? "" : `${answer.ms} ms`);

function lineOf(one: Shown, widths: readonly number[]): string {
  const { event, answer } = one;
  const texts = [sourceText, typeText, idText, outcomeText].map((text) => text(one));
  const [source, type, id, outcome = ""] = texts.map((text, index) => padded(text, widths[index] ?? 0));
  const shown = answer === null ? outcome : styled(isSuccess(answer) ? "green" : "red", outcome);
  return [timeOf(event.receivedAt), source, type, id, shown, styled("dim", msText(one))].join("  ");
}

const TIME_WIDTH = "00:00:00".length;

/** The local time of day. */
function timeOf(ms: number): string {
  const time = new Date(ms);
  return [time.getHours(), time.getMinutes(), time.getSeconds()].map((part) => String(part).padStart(2, "0")).join(":");
}

/** Widths that fit into the room: the widest gives way first. */
function shares(room: number, widths: readonly [number, number, number]): [number, number, number] {
  const [...fitting] = widths;
  for (let excess = widths.reduce((sum, width) => sum + width, 0) - room; excess > 0; excess--) {
    const widest = fitting.indexOf(Math.max(...fitting));
    if ((fitting[widest] ?? 0) <= 1) break;
    fitting[widest] = (fitting[widest] ?? 0) - 1;
  }
  return fitting as [number, number, number];
}

function padded(text: string, width: number): string {
  const shown = cut(text, width);
  return shown + " ".repeat(Math.max(0, width - stringWidth(shown)));
}

/** Opens the screen on the terminal. Whoever opens it closes it. */
export function openScreen(title: string): Screen {
  const { stdin, stdout } = process;
  const shown: Shown[] = [];
  const model: Model = { title, shown, count: 0, isPaused: false, waitsFor: null, note: null };

  function draw(): void {
    const lines = screenLines(model, stdout.columns, stdout.rows);
    stdout.write(`${HOME}${lines.map((line) => line + CLEAR_LINE).join("\r\n")}${CLEAR_BELOW}`);
  }

  function onKey(keys: Keys, key: string): void {
    const [last] = shown;
    model.note = null;
    if (key === "q" || key === CTRL_C) keys.quit();
    else if (key === "r") keys.resend();
    else if (key === "o" && last !== undefined) model.note = keys.open(last.event);
    else if (key === "p") {
      model.isPaused = !model.isPaused;
      keys.pause(model.isPaused);
    }
    draw();
  }

  let onData = (_keys: string) => {};
  stdout.write(ENTER);
  stdout.on("resize", draw);
  draw();
  return {
    show(event, answer) {
      shown.unshift({ event, answer });
      shown.length = Math.min(shown.length, REMEMBERED);
      model.count += 1;
      draw();
    },
    waits(reason) {
      if (model.waitsFor === reason) return;
      model.waitsFor = reason;
      draw();
    },
    reset() {
      model.note = "the store has lost events, as a restored backup has: going on with those received since";
      draw();
    },
    start(keys) {
      onData = (typed) => {
        for (const key of typed) onKey(keys, key);
      };
      stdin.setEncoding("utf8").setRawMode(true).on("data", onData).resume();
    },
    close() {
      stdin.off("data", onData).setRawMode(false).pause();
      stdout.off("resize", draw);
      stdout.write(LEAVE);
    },
  };
}
