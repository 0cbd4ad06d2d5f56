import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { createLog } from "../../src/log.ts";
import { isFault, parseDatabaseUrl } from "../../src/postgres/address.ts";
import {
  connectPostgres,
  type Postgres,
  type PostgresOptions,
  type PostgresWatcher,
} from "../../src/postgres/connection.ts";
import { prepareSchema } from "../../src/postgres/schema-update.ts";
import { makeDir, own, run, type ServerProcess, startProcess, USER } from "./postgres-process.ts";
import type { Cleanup } from "./temp-dir.ts";
import { HANG_MS, isWell, until } from "./until.ts";

/** The databases of a real PostgreSQL. */
interface Databases {
  port: number;
  /** The folder of its socket. */
  dir: string;
  url(database?: string): string;
  /** Creates an empty database. Returns its name. */
  createDatabase(template?: string): Promise<string>;
  /** Runs statements as the superuser, each by itself. */
  query(text: string, database?: string): Promise<Record<string, unknown>[]>;
}

/** A real PostgreSQL. It ends with its test. */
export interface PostgresServer extends Databases {
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

interface PostgresServerOptions {
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

function databasesAt({ port, dir, auth = USER }: { port: number; dir: string; auth?: string }): Databases {
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
      const name = `test_${process.pid}_${++databases}`;
      await query(`CREATE DATABASE ${name}${template === undefined ? "" : ` TEMPLATE ${template}`}`);
      return name;
    },
    query,
  };
}

function describe(context: Cleanup, server: ServerProcess, options: PostgresServerOptions): PostgresServer {
  const { port, dir, data } = server;
  const auth = options.password === undefined ? USER : `${USER}:${encodeURIComponent(options.password)}`;
  const databases = databasesAt({ port, dir, auth });
  const { query } = databases;
  return {
    ...databases,
    stop: (how) => server.end(how === "fast" ? "SIGINT" : "SIGQUIT"),
    kill: server.kill,
    restart: server.restart,
    pause() {
      server.signal("SIGSTOP");
      // The main process may have started one in between. Now it starts none.
      server.signal("SIGSTOP");
    },
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
      await until(async () => (await query("SELECT pg_is_in_recovery() AS is"))[0]?.is === false);
    },
  };
}

/**
 * Connects to a database. The connection is closed after the test. Its time limit is for what hangs, unless one is
 * given.
 */
export function openPostgres(
  context: Cleanup,
  url: string,
  options: Partial<PostgresOptions> = {},
  watcher: Partial<PostgresWatcher> = {},
): Postgres {
  const address = parseDatabaseUrl(url);
  if (isFault(address)) throw new Error(address.found);
  const quiet = { onUp: () => {}, onDown: () => {}, onUnnamed: () => {}, ...watcher };
  const postgres = connectPostgres({ ...address, tls: undefined, poolSize: 4, timeoutMs: HANG_MS, ...options }, quiet);
  context.after(() => postgres.close());
  return postgres;
}

/** Where the server of a run of test files is. */
const SHARED = "TEST_POSTGRES";
/** Its database with an empty schema. */
const TEMPLATE = "with_schema";
/** It need not survive a crash. */
const FAST = { fsync: "off", full_page_writes: "off", max_connections: "300" };

/** Starts the server for this process and those that it starts. Returns its folder. */
export async function startShared(context: Cleanup): Promise<string> {
  const { port, dir, query, url } = await startPostgres(context, { settings: FAST });
  await query(`CREATE DATABASE ${TEMPLATE}`);
  const closing: (() => void | Promise<void>)[] = [];
  await prepareSchema(openPostgres({ after: (close) => void closing.push(close) }, url(TEMPLATE)), createLog("silent"));
  for (const close of closing) await close();
  process.env[SHARED] = JSON.stringify({ port, dir });
  return dir;
}

let starting: Promise<void> | undefined;

/** The shared server. A test file that runs alone starts one, which ends with its process. */
async function shared(): Promise<Databases> {
  if (process.env[SHARED] === undefined) starting ??= startOwn();
  await starting;
  return databasesAt(JSON.parse(process.env[SHARED] ?? ""));
}

async function startOwn(): Promise<void> {
  const dir = await startShared({ after: () => {} });
  process.once("exit", () => removeStopped(dir));
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

/** Creates a database on the shared server, which is removed after the test. Returns its URL. */
async function tempDatabase(context: Cleanup, template?: string): Promise<string> {
  const server = await shared();
  const name = await server.createDatabase(template);
  context.after(async () => {
    await until(() => isWell(() => server.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)));
  });
  return server.url(name);
}

/** The URL of a new database that is empty. */
export const emptyDatabase = (context: Cleanup) => tempDatabase(context);

/** A new database with an empty schema. */
export async function tempPostgres(context: Cleanup): Promise<{ postgres: Postgres; url: string }> {
  const url = await tempDatabase(context, TEMPLATE);
  return { postgres: openPostgres(context, url), url };
}

/** Empties a schema. A `TRUNCATE` takes ten times as long. */
const EMPTY = `
DO $$ DECLARE name text; BEGIN
  FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'authserve' AND tablename <> 'schema_version' LOOP
    EXECUTE format('DELETE FROM authserve.%I', name);
  END LOOP;
  PERFORM setval(format('authserve.%I', sequencename)::regclass, 1, false) FROM pg_sequences WHERE schemaname = 'authserve';
END $$`;

let reused: Promise<string> | undefined;

/**
 * A database of this process with an empty schema. For tests that only change rows, and leave no server behind: it is
 * reused.
 */
export async function reusedPostgres(context: Cleanup): Promise<{ postgres: Postgres; url: string }> {
  reused ??= tempDatabase({ after: () => {} }, TEMPLATE);
  const url = await reused;
  const postgres = openPostgres(context, url);
  await postgres.run(EMPTY);
  return { postgres, url };
}
