import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { NOBODY } from "./back-end.ts";
import { freePort } from "./ports.ts";
import type { PostgresServer } from "./postgres.ts";
import type { Cleanup } from "./temp-dir.ts";
import { isWell, until } from "./until.ts";
import { workingDir } from "./working-dir.ts";

/** The minor version of pgbouncer 1. It keeps named statements from 1.21. */
export function pgbouncerMinor(): number {
  const version = execFileSync("pgbouncer", ["--version"], { encoding: "utf8" });
  return Number(/PgBouncer 1\.([0-9]+)/i.exec(version)?.[1]);
}

/**
 * Starts pgbouncer in transaction mode in front of a server. Returns the URL of a database behind it. It ends with the
 * test.
 */
export async function startPgbouncer(
  context: Cleanup,
  server: PostgresServer,
  options: string[] = [],
): Promise<string> {
  const dir = workingDir(0o755);
  const port = await freePort();
  const config = join(dir, "pgbouncer.ini");
  const lines = [
    "[databases]",
    `* = host=127.0.0.1 port=${server.port} user=authserve`,
    "[pgbouncer]",
    "listen_addr = 127.0.0.1",
    `listen_port = ${port}`,
    "auth_type = any",
    "pool_mode = transaction",
    "default_pool_size = 3",
    "unix_socket_dir =",
    ...options,
  ];
  writeFileSync(config, `${lines.join("\n")}\n`, { mode: 0o644 });
  const asUser = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  const child = spawn("pgbouncer", [config], { ...asUser, stdio: "ignore" });
  const end = () => child.kill("SIGKILL");
  process.once("exit", end);
  context.after(async () => {
    process.off("exit", end);
    if (child.exitCode !== null) return;
    const ended = once(child, "exit");
    end();
    await ended;
  });
  const url = `postgres://authserve@127.0.0.1:${port}/postgres`;
  await until(() => isWell(() => answers(url)));
  return url;
}

async function answers(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  client.on("error", () => {});
  try {
    await client.connect();
    await client.query("SELECT 1");
  } finally {
    await client.end();
  }
}
