import { suite, test } from "node:test";
import { Client } from "pg";
import { needsPostgres } from "../../helpers/back-end.ts";
import { type Fault, walk } from "../../helpers/faults.ts";
import { emptyDatabase } from "../../helpers/postgres.ts";

/** A session of the administrator in the database of a server, whose user this is. */
interface Place {
  admin: Client;
  user: string;
}

/** A fault that a statement makes and another one ends. */
const byStatements =
  (make: (user: string) => string, end: (user: string) => string) =>
  async ({ admin, user }: Place) => {
    await admin.query(make(user));
    return () => admin.query(end(user));
  };

/** The faults of a database of PostgreSQL. */
const FAULTS: readonly Fault<Place>[] = [
  {
    name: "another session locks the events",
    make: byStatements(
      () => "BEGIN; LOCK TABLE authserve.events",
      () => "COMMIT",
    ),
    delivery: 503,
    login: 200,
    parts: ["events"],
    doctor: /the session \d+ locks authserve\.events/,
    alert: "AuthserveNotReady",
    log: "not_ready",
  },
  {
    name: "the user may not add events",
    make: byStatements(
      (user) => `REVOKE INSERT ON authserve.events FROM ${user}`,
      (user) => `GRANT INSERT ON authserve.events TO ${user}`,
    ),
    delivery: 503,
    login: 200,
    parts: ["events"],
    doctor: /lacks the right INSERT on authserve\.events → run GRANT INSERT/,
    alert: "AuthserveNotReady",
    log: "not_ready",
  },
  {
    name: "a table of sessions is gone",
    make: byStatements(
      () => "ALTER TABLE authserve.sessions RENAME TO moved_away",
      () => "ALTER TABLE authserve.moved_away RENAME TO sessions",
    ),
    delivery: 200,
    login: 503,
    parts: ["sessions"],
    doctor: /the table authserve\.sessions does not exist/,
    alert: "AuthserveNotReady",
    log: "not_ready",
  },
];

suite("faults of a database of PostgreSQL are told, and end by themselves", needsPostgres(), () => {
  for (const fault of FAULTS) {
    test(fault.name, async (t) => {
      const url = await emptyDatabase(t);
      const user = new URL(url).pathname.slice(1);
      const admin = new Client({ connectionString: url });
      admin.on("error", () => {});
      await admin.connect();
      t.after(() => admin.end().catch(() => {}));
      await admin.query(`CREATE ROLE ${user} LOGIN; GRANT CREATE ON DATABASE ${user} TO ${user}`);
      const env = { DATABASE_URL: url.replace("authserve@", `${user}@`), DATABASE_TIMEOUT: "2s" };
      await walk(t, fault, { env, place: () => ({ admin, user }) });
    });
  }
});
