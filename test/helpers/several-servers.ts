import type { TestContext } from "node:test";
import { type PostgresServer, startPostgres } from "./postgres.ts";
import { type Server, startServer } from "./server.ts";

export const SERVERS = 3;

/** Starts three servers on one PostgreSQL, by default on a new one. */
export async function startThree(
  t: TestContext,
  env: Record<string, string>,
  database?: PostgresServer,
): Promise<[Server, Server, Server]> {
  const { url } = database ?? (await startPostgres(t));
  const servers = await Promise.all(
    Array.from({ length: SERVERS }, () => startServer({ env: { DATABASE_URL: url(), ...env } })),
  );
  for (const server of servers) t.after(() => server[Symbol.asyncDispose]());
  return servers as [Server, Server, Server];
}
