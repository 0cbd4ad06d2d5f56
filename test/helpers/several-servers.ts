import { tempPostgres } from "./postgres.ts";
import { type Server, startServer } from "./server.ts";
import type { Cleanup } from "./temp-dir.ts";
import { HANG_MS } from "./until.ts";

export const SERVERS = 3;

/** Settings under which a machine that stalls makes no store time out. */
export const PATIENT = { DATABASE_TIMEOUT: `${HANG_MS}ms`, REDIS_TIMEOUT: `${HANG_MS}ms` };

/** Starts three servers on one database of PostgreSQL, by default on a new one. */
export async function startThree(
  context: Cleanup,
  env: Record<string, string>,
  url?: string,
): Promise<[Server, Server, Server]> {
  const DATABASE_URL = url ?? (await tempPostgres(context)).url;
  const start = async () => {
    const server = await startServer({ env: { ...PATIENT, DATABASE_URL, ...env } });
    context.after(() => server[Symbol.asyncDispose]());
    return server;
  };
  return Promise.all([start(), start(), start()]);
}

/** Runs callbacks when a suite ends. It takes the suite's `after`. */
export function endOfSuite(after: (end: () => Promise<void>) => void): Cleanup {
  const ends: (() => void | Promise<void>)[] = [];
  after(async () => {
    for (const end of ends) await end();
  });
  return { after: (end) => void ends.push(end) };
}
