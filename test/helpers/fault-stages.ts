import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import Sqlite from "better-sqlite3";
import type { Redis } from "ioredis";
import { Client } from "pg";
import { deliver, event, tryLogin } from "./client.ts";
import type { End, Fault, Stage } from "./faults.ts";
import { emptyDatabase, type PostgresServer, startPostgres } from "./postgres.ts";
import { type RedisProcess, startRedis } from "./redis.ts";
import type { Server } from "./server.ts";
import { fill, mountDisk, mountImage } from "./small-disk.ts";
import { startTarget } from "./target.ts";
import { until } from "./until.ts";

// Ways to make faults. Each returns what prepares one.

type Prepare = Fault["prepare"];

/** A fault of the files of SQLite. `make` gets the path of the database. */
function onFiles(make: (file: string) => End): Prepare {
  return (_t, dir) => ({ env: {}, make: () => make(join(dir, "data", "authserve.db")) });
}

/** Another program changes the database, and changes it back. */
export const changed = (there: string, back: string) =>
  onFiles((file) => {
    change(file, there);
    return () => change(file, back);
  });

function change(file: string, statements: string): void {
  const database = new Sqlite(file, { timeout: 10_000 });
  database.exec(statements);
  database.close();
}

/** Another program holds the lock of the database. */
export const locked = onFiles((file) => {
  const other = new Sqlite(file);
  other.exec("BEGIN IMMEDIATE");
  return () => other.close();
});

/** The file of the database, with an ending, is moved away and back. */
export const moved = (ending: string) =>
  onFiles((file) => {
    renameSync(file + ending, `${file}.away`);
    return () => renameSync(`${file}.away`, file + ending);
  });

/** A file beside the database is removed for good. */
export const removed = (nameOf: (file: string) => string) =>
  onFiles((file) => {
    rmSync(nameOf(file));
    return () => {};
  });

/** Nearly all space of the disk is taken. */
export const lowDisk: Prepare = (t, dir) => {
  const disk = join(dir, "data");
  mountDisk(t, disk, "128m");
  return {
    env: { MIN_FREE_DISK: "16m" },
    make() {
      writeFileSync(join(disk, "filler"), Buffer.alloc(120_000_000));
      return () => rmSync(join(disk, "filler"));
    },
  };
};

/** The disk is full to the last page. */
export const fullDisk: Prepare = (t, dir) => {
  const disk = join(dir, "data");
  mountDisk(t, disk, "8m");
  return {
    env: { MIN_FREE_DISK: "0" },
    async make(server) {
      fill(join(disk, "filler"));
      await untilRefused((n) => deliver(server, event(`filling-${n}`)));
      await untilRefused(() => tryLogin(server));
      return () => rmSync(join(disk, "filler"));
    },
  };
};

const REQUESTS_A_LOOK = 20;

/** The part of the write-ahead log that is allocated may still take some changes. */
async function untilRefused(request: (n: number) => Promise<{ status: number }>): Promise<void> {
  let n = 0;
  // The waits between the looks grow, and a slow machine would send too few.
  await until(async () => {
    for (let turn = 0; turn < REQUESTS_A_LOOK; turn++) if ((await request(n++)).status === 503) return true;
    return false;
  });
}

/** The system makes the disk read-only, as after an error of the disk. It is mounted again afterwards. */
export const readOnlyDisk: Prepare = (t, dir) => {
  const disk = join(dir, "data");
  mountImage(t, disk);
  return {
    env: { MIN_FREE_DISK: "0" },
    make() {
      spawnSync("mount", ["-o", "remount,abort", disk]);
      return () => {
        spawnSync("umount", [disk]);
        spawnSync("mount", ["-o", "loop", `${disk}.img`, disk]);
      };
    },
  };
};

/** The app fails: it answers with a status. `meanwhile` is done after an event came. Returns what ends it. */
const onApp =
  (status: number, env: Record<string, string>, meanwhile: (server: Server) => End = () => () => {}): Prepare =>
  async (t) => {
    const app = await startTarget();
    t.after(() => app[Symbol.asyncDispose]());
    const answer = (code: number) => app.answer((_, response) => void response.writeHead(code).end());
    return {
      env: { FORWARD_URL: app.url, RETRY_DELAY: "50ms", ...env },
      async make(server) {
        answer(status);
        await deliver(server, event("queued"));
        const end = meanwhile(server);
        return () => {
          answer(204);
          return end();
        };
      },
    };
  };

/** An event waits for longer than `MAX_QUEUE_AGE`. */
export const oldQueue = onApp(503, { MAX_QUEUE_AGE: "1s" });

/** The app cannot take events now. */
export const appAway = onApp(503, {});

/** The app refuses events. */
export const appFails = onApp(400, { RETRY_ATTEMPTS: "1" }, replayAtTheEnd);

/** The stored bytes of an event and their checksum differ. */
export const damagedEvent = onApp(503, { RETRY_ATTEMPTS: "100" }, (server) => {
  const file = join(server.dir, "data", "authserve.db");
  const raise = (by: number) =>
    change(
      file,
      `UPDATE contents SET payload_crc32 = payload_crc32 + ${by} WHERE event = (SELECT min(event) FROM jobs)`,
    );
  raise(1);
  const replay = replayAtTheEnd(server);
  return () => {
    raise(-1);
    return replay();
  };
});

function replayAtTheEnd(server: Server): End {
  return async () => {
    const { code, stderr } = await server.run(["events", "replay", "--dead-letter"]);
    assert.equal(code, 0, stderr);
  };
}

/** How long the server waits for PostgreSQL or Redis. Doctor needs a part of it to find who holds a lock. */
const SHORT = "4s";

interface SharedPlace {
  /** A session of the administrator in the database. */
  admin: Client;
  /** The name of the database, which is also that of the server's user. */
  user: string;
}

/** A fault of one database of PostgreSQL. */
function onDatabase(make: (place: SharedPlace) => Promise<End>): Prepare {
  return async (t) => {
    const url = await emptyDatabase(t);
    const user = new URL(url).pathname.slice(1);
    const admin = new Client({ connectionString: url });
    admin.on("error", () => {});
    await admin.connect();
    t.after(() => admin.end().catch(() => {}));
    await admin.query(`CREATE ROLE ${user} LOGIN; GRANT CREATE ON DATABASE ${user} TO ${user}`);
    return {
      env: { DATABASE_URL: url.replace("authserve@", `${user}@`), DATABASE_TIMEOUT: SHORT },
      make: () => make({ admin, user }),
    };
  };
}

/** Statements make a fault of a database of PostgreSQL, and others end it. */
export const byStatements = (there: (user: string) => string, back: (user: string) => string) =>
  onDatabase(async ({ admin, user }) => {
    await admin.query(there(user));
    return () => admin.query(back(user));
  });

const endSessions = (user: string) =>
  `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${user}'`;

/** As `byStatements`, for what new sessions only see. */
export const forNewSessions = (there: (user: string) => string, back: (user: string) => string) =>
  onDatabase(async ({ admin, user }) => {
    await admin.query(there(user));
    await admin.query(endSessions(user));
    return async () => {
      await admin.query(back(user));
      await admin.query(endSessions(user));
    };
  });

/** A fault of a PostgreSQL of its own. */
export function onPostgres(
  there: (postgres: PostgresServer) => unknown,
  back: (postgres: PostgresServer) => unknown,
  password?: string,
): Prepare {
  return async (t) => {
    const postgres = await startPostgres(t, {
      ...(password === undefined ? {} : { password }),
      settings: { fsync: "off" },
    });
    return {
      env: { DATABASE_URL: postgres.url(), DATABASE_TIMEOUT: SHORT },
      async make() {
        await there(postgres);
        return () => back(postgres);
      },
    };
  };
}

/** The password of the server's user is another one. */
export const otherPassword = onPostgres(
  async (postgres) => {
    await postgres.query("ALTER USER authserve PASSWORD 'another'");
    await postgres.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'authserve'");
  },
  (postgres) => postgres.query("ALTER USER authserve PASSWORD 'the first'"),
  "the first",
);

/** A fault of a Redis of its own. */
export function onRedis(
  there: (redis: RedisProcess, admin: Redis) => unknown,
  back: (redis: RedisProcess, admin: Redis) => unknown,
): Prepare {
  return async (t: TestContext): Promise<Stage> => {
    const redis = await startRedis(t);
    const admin = redis.client(t);
    return {
      env: { REDIS_HOST: "127.0.0.1", REDIS_PORT: String(redis.port), REDIS_TIMEOUT: SHORT },
      async make(_server: Server) {
        await there(redis, admin);
        return () => back(redis, admin);
      },
    };
  };
}
