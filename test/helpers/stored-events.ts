import assert from "node:assert/strict";
import type { Server } from "./server.ts";
import { until } from "./until.ts";

interface Listed {
  source: string;
  eventId: string;
  type: string;
  status: string;
  attempts: number;
  receivedAt: string;
  processedAt: string | null;
  lastError: string | null;
}

interface ShownJob {
  route: string;
  status: string;
  attempts: number;
  replays: number;
  budget: { used: number; of: number | null };
  nextAttemptAt: string | null;
  lastError: string | null;
  deadLetter: { reason: string } | null;
  history: {
    attempt: number;
    replay: number;
    attemptOfBudget: number;
    finishedAt: string;
    outcome: string;
    error: string | null;
  }[];
}

interface Shown extends Listed {
  address: string;
  secret: string;
  contentType: string;
  headers: Record<string, string>;
  jobs: ShownJob[];
  conflicts: { number: number; deliveries: number; payloadSha256: string; payload: string }[];
  repeats: {
    number: number;
    eventId: string;
    type: string;
    deliveries: number;
    headers: Record<string, string>;
    replayedAs: string | null;
  }[];
  payload: string;
}

async function printed<T>(server: Server, args: readonly string[]): Promise<T> {
  const { code, stdout, stderr } = await server.run([...args, "--json"]);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout) as T;
}

/** The output of `events list`. */
export function list(server: Server, ...options: string[]): Promise<Listed[]> {
  return printed(server, ["events", "list", ...options]);
}

/** The output of `events show`. */
export function show(server: Server, eventId: string): Promise<Shown> {
  return printed(server, ["events", "show", eventId]);
}

/** The only job in the output of `events show`. */
export async function showJob(server: Server, eventId: string): Promise<ShownJob> {
  const { jobs } = await show(server, eventId);
  assert.equal(jobs.length, 1);
  return jobs[0] as ShownJob;
}

/** The output of `events stats`. */
export function stats(server: Server): Promise<Record<string, number | string | null>> {
  return printed(server, ["events", "stats"]);
}

/** Waits until an event has the log event `how`. */
export async function settled(server: Server, eventId: string, how = "event_processed"): Promise<void> {
  await until(() => server.log(how).some((line) => line.eventId === eventId));
}
