import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { isFault, parseDatabaseUrl } from "../../src/postgres/address.ts";
import {
  connectPostgres,
  type Postgres,
  type PostgresOptions,
  type PostgresWatcher,
} from "../../src/postgres/connection.ts";
import { prepareSchema } from "../../src/postgres/schema.ts";
import { makeDir, own, run, type ServerProcess, startProcess, USER } from "./postgres-process.ts";
import type { Cleanup } from "./temp-dir.ts";
import { until } from "./until.ts";

/** A real PostgreSQL. It ends with its test. */
export interface PostgresServer {
  port: number;
  dir: string;
  url(database?: string): string;
  /** Creates an empty database. Returns its name. */
  createDatabase(template?: string): Promise<string>;
  /** Runs statements as the superuser, each by itself. */
  query(text: string, database?: string): Promise<Record<string, unknown>[]>;
  /** Ends it: `immediate` like a crash, `fast` like `systemctl stop`. */
  stop(how: "immediate" | "fast"): Promise<void>;
  /** Ends all its processes by SIGKILL, as a machine that loses power. */
  kill(): Promise<void>;
  restart(): Promise<void>;
  /** Suspends all its processes, like a machine that hangs. */
  pause(): void;
  resume(): void;
  /** Starts a standby that follows it, on a free port unless one is given. */
  standby(port?: number): Promise<PostgresServer>;
  /** Makes a standby the primary. */
  promote(): Promise<void>;
}

export interface PostgresServerOptions {
  /** Settings, for example `{ fsync: "off" }`. */
  settings?: Record<string, string>;
  /** Where the data is, instead of a folder of its own. It must be empty. */
  dataDir?: string;
  /** Asks for this password. */
  password?: string;
  /** Offers TLS with these files. */
  tls?: { cert: string; key: string };
}

/** Starts a server with empty data. */
export async function startPostgres(context: Cleanup, options: PostgresServerOptions = {}): Promise<PostgresServer> {
  const dir = makeDir();
  const data = options.dataDir ?? join(dir, "data");
  const started: { server?: ServerProcess } = {};
  context.after(async () => {
    await started.server?.dispose();
    rmSync(dir, { recursive: true, force: true });
  });
  // The log of changes is not on the disk of the data: a server without room for it would end.
  const initdb = [
    "-D",
    data,
    "--no-sync",
    "-U",
    USER,
    "-A",
    "trust",
    "-E",
    "UTF8",
    "--locale=C",
    `--waldir=${join(dir, "wal")}`,
  ];
  run("initdb", initdb);
  if (options.password !== undefined) {
    writeFileSync(join(data, "pg_hba.conf"), "local all all trust\nhost all all all scram-sha-256\n");
  }
  if (options.tls) copyTls(data, options.tls);
  const settings = { ...(options.tls ? { ssl: "on" } : {}), ...options.settings };
  const server = await startProcess(dir, data, settings);
  started.server = server;
  const opened = describe(context, server, options);
  if (options.password !== undefined) await opened.query(`ALTER USER ${USER} PASSWORD '${options.password}'`);
  return opened;
}

function copyTls(data: string, { cert, key }: { cert: string; key: string }): void {
  for (const [name, file] of [
    ["server.crt", cert],
    ["server.key", key],
  ] as const) {
    const copy = join(data, name);
    writeFileSync(copy, readFileSync(file), { mode: 0o600 });
    own(copy);
  }
}

/** A standby without its primary looks for it this often. A promotion may have to wait as long. */
const QUICK_STANDBY = { wal_retrieve_retry_interval: "100ms" };

let databases = 0;

function describe(context: Cleanup, server: ServerProcess, options: PostgresServerOptions): PostgresServer {
  const { port, dir, data } = server;
  const auth = options.password === undefined ? USER : `${USER}:${encodeURIComponent(options.password)}`;

  async function query(text: string, database = "postgres"): Promise<Record<string, unknown>[]> {
    const client = new Client({ host: dir, port, user: USER, database });
    client.on("error", () => {});
    await client.connect();
    try {
      return (await client.query(text)).rows;
    } finally {
      await client.end();
    }
  }

  return {
    port,
    dir,
    url: (database = "postgres") => `postgres://${auth}@127.0.0.1:${port}/${database}`,
    async createDatabase(template) {
      const name = `test_${++databases}`;
      await query(`CREATE DATABASE ${name}${template === undefined ? "" : ` TEMPLATE ${template}`}`);
      return name;
    },
    query,
    stop: (how) => server.end(how === "fast" ? "SIGINT" : "SIGQUIT"),
    kill: server.kill,
    restart: server.restart,
    pause: () => server.signal("SIGSTOP"),
    resume: () => server.signal("SIGCONT"),
    async standby(standbyPort) {
      const folder = makeDir();
      const copy = join(folder, "data");
      run("pg_basebackup", ["-D", copy, "-h", dir, "-p", `${port}`, "-U", USER, "-R", "-c", "fast", "--no-sync"]);
      const started = await startProcess(folder, copy, { ...QUICK_STANDBY, ...server.settings }, standbyPort);
      context.after(async () => {
        await started.dispose();
        rmSync(folder, { recursive: true, force: true });
      });
      return describe(context, started, options);
    },
    async promote() {
      run("pg_ctl", ["promote", "-D", data]);
      await until(async () => (await query("SELECT pg_is_in_recovery() AS is"))[0]?.is === false, 10_000);
    },
  };
}

/** Connects to a database. The connection is closed after the test. */
export function openPostgres(
  context: Cleanup,
  url: string,
  options: Partial<PostgresOptions> = {},
  watcher: Partial<PostgresWatcher> = {},
): Postgres {
  const address = parseDatabaseUrl(url);
  if (isFault(address)) throw new Error(address.found);
  const quiet = { onUp: () => {}, onDown: () => {}, onUnnamed: () => {}, ...watcher };
  const postgres = connectPostgres({ ...address, tls: undefined, poolSize: 4, timeoutMs: 5000, ...options }, quiet);
  context.after(() => postgres.close());
  return postgres;
}

let shared: Promise<{ server: PostgresServer; template: string }> | undefined;

/** The server of this test process, for tests that do not harm it. It ends with the process. Its disk is not asked for durability. */
async function sharedPostgres(): Promise<{ server: PostgresServer; template: string }> {
  shared ??= (async () => {
    const ends: (() => unknown)[] = [];
    const context: Cleanup = { after: (end) => void ends.push(end as () => unknown) };
    const server = await startPostgres(context, { settings: { fsync: "off", max_connections: "300" } });
    process.once("exit", () => removeStopped(server.dir));
    const template = await server.createDatabase();
    const opened: (() => unknown)[] = [];
    await prepareSchema(openPostgres({ after: (end) => void opened.push(end as () => unknown) }, server.url(template)));
    for (const close of opened) await close();
    return { server, template };
  })();
  return shared;
}

/** Removes the folder of a server that has the signal to end. */
function removeStopped(dir: string): void {
  try {
    // Waits for its end: until then files may be added.
    run("pg_ctl", ["stop", "-D", join(dir, "data"), "-m", "immediate"]);
  } catch {
    // It has ended already.
  }
  rmSync(dir, { recursive: true, force: true });
}

/** A database with an empty schema on the server of this test process. */
export async function tempPostgres(context: Cleanup): Promise<{ postgres: Postgres; url: string }> {
  const { server, template } = await sharedPostgres();
  const url = server.url(await server.createDatabase(template));
  return { postgres: openPostgres(context, url), url };
}
