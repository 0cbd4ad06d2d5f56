/** Reads how much processor time processes and the machine have used, from Linux's /proc. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Clock ticks of /proc in a second. */
const TICKS = 100;

/** Processor seconds so far. */
interface ProcessTimes {
  own: number;
  /** Of the children that have ended and were waited for. */
  endedChildren: number;
}

function timesOf(pid: number | string): ProcessTimes {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name before may contain spaces. The fields are utime, stime, cutime and cstime of proc(5).
    const [user = 0, system = 0, childrenUser = 0, childrenSystem = 0] = stat
      .slice(stat.lastIndexOf(")") + 2)
      .split(" ")
      .slice(11, 15)
      .map(Number);
    return { own: (user + system) / TICKS, endedChildren: (childrenUser + childrenSystem) / TICKS };
  } catch {
    // It has ended: its time is that of its parent's ended children now.
    return { own: 0, endedChildren: 0 };
  }
}

/** Processor seconds of a process, with all its threads. */
export const secondsOf = (pid: number): number => timesOf(pid).own;

/** Processor seconds of a process's first thread. In Node.js it runs the JavaScript. */
export const secondsOfMainThread = (pid: number): number => timesOf(`${pid}/task/${pid}`).own;

/** Processor seconds of the children of a process that have ended. */
export const secondsOfEnded = (pid: number): number => timesOf(pid).endedChildren;

/** Processor seconds of a process and its children. */
function secondsOfFamily(pid: number): number {
  const { own, endedChildren } = timesOf(pid);
  return childrenOf(pid).reduce((sum, child) => sum + secondsOfFamily(child), own + endedChildren);
}

/** Processor seconds of a PostgreSQL server, by the folder that it is in. */
export function secondsOfPostgres({ dir }: { dir: string }): number {
  return secondsOfFamily(Number(readFileSync(join(dir, "data/postmaster.pid"), "utf8").split("\n", 1)[0]));
}

function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

/** Seconds of all cores together: all, without work, and without work while a process waits for the disk. */
export function secondsOfMachine(): { all: number; idle: number; iowait: number } {
  const line = readFileSync("/proc/stat", "utf8").split("\n", 1)[0] ?? "";
  // user, nice, system, idle, iowait, irq, softirq, steal. The rest is part of the first two.
  const fields = line.split(/\s+/).slice(1, 9).map(Number);
  const [idle = 0, iowait = 0] = fields.slice(3, 5);
  return { all: fields.reduce((sum, ticks) => sum + ticks) / TICKS, idle: idle / TICKS, iowait: iowait / TICKS };
}
