import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { suite, test } from "node:test";
import { OperatorError } from "../../../src/errors.ts";
import { createLog } from "../../../src/log.ts";
import { type Postgres, sqlState } from "../../../src/postgres/connection.ts";
import { createPostgresEventStore } from "../../../src/postgres/events.ts";
import { readSchema, SCHEMA, STEP_DIGESTS, schemaVersion } from "../../../src/postgres/schema.ts";
import { prepareSchema } from "../../../src/postgres/schema-update.ts";
import { stepsToRecord } from "../../../src/storage/schema-steps.ts";
import { needsPgbouncer, needsPostgres } from "../../helpers/back-end.ts";
import { claim, newEvent } from "../../helpers/events.ts";
import { failsWith } from "../../helpers/fails-with.ts";
import { pgbouncerMinor, startPgbouncer } from "../../helpers/pgbouncer.ts";
import { openPostgres, startPostgres, tempPostgres } from "../../helpers/postgres.ts";
import { openWatched, SHORT_MS, unavailable } from "../../helpers/postgres-store.ts";
import { TLS_CERT_FILE, TLS_KEY_FILE } from "../../helpers/redis.ts";
import { until } from "../../helpers/until.ts";

const log = createLog("silent");

suite("the schema on PostgreSQL", needsPostgres(), () => {
  test("is created once by several servers that start at the same time", async (t) => {
    const { postgres, url } = await tempPostgres(t);
    await postgres.run("DROP SCHEMA authserve CASCADE");
    const servers = [1, 2, 3, 4].map(() => openPostgres(t, url));
    await Promise.all(servers.map((server) => prepareSchema(server, log)));
    assert.equal(await schemaVersion(postgres), SCHEMA);
    assert.deepEqual(await postgres.rows("SELECT version FROM authserve.schema_version"), [{ version: SCHEMA }]);
  });

  test("of version 1 keeps its events, and repeats are kept beside them", async (t) => {
    const { postgres } = await tempPostgres(t);
    const bytesSha256 = "ab".repeat(32);
    await createPostgresEventStore(postgres).append([newEvent({ bytesSha256 })]);
    const old = [
      "repeats",
      "source_refusals",
      "machine_tokens",
      "unavailable_routes",
      "shadow_counts",
      "shadow_differences",
      "sent_bodies",
    ];
    const added = [...old, "heartbeats", "outages", "catch_ups", "catch_up_items", "subscriptions"];
    added.push("login_factors", "recovery_codes", "spent_codes", "logins", "login_networks", "erasures", "untaken");
    added.push("audit", "audit_ends", "recent_refusals");
    added.push("client_codes", "client_tokens", "client_sessions", "client_consents");
    added.push("signing_keys", "session_devices", "people");
    added.push("person_factors", "person_codes", "person_logins", "person_networks");
    await postgres.run(`DROP TABLE ${added.map((table) => `authserve.${table}`)}`);
    await postgres.run("ALTER TABLE authserve.jobs DROP COLUMN probes, DROP COLUMN replays");
    const ofAttempts = ["is_probe", "response_status", "replay", "attempt_of_budget"];
    await postgres.run(`ALTER TABLE authserve.attempts ${ofAttempts.map((column) => `DROP COLUMN ${column}`)}`);
    await postgres.run("ALTER TABLE authserve.paused_routes DROP COLUMN until_at");
    await postgres.run("ALTER TABLE authserve.events_by_minute DROP COLUMN last_event");
    await postgres.run("UPDATE authserve.schema_version SET version = 1");
    await prepareSchema(postgres, log);
    assert.equal(await schemaVersion(postgres), SCHEMA);
    const events = createPostgresEventStore(postgres);
    await events.append([newEvent({ eventId: "e-2", bytesSha256 })]);
    assert.equal((await events.get("e-1"))[0]?.repeats[0]?.eventId, "e-2");
  });

  test("of a newer version is refused with the version that it needs", async (t) => {
    const { postgres } = await tempPostgres(t);
    const steps = JSON.stringify(["one 0.2.0", "two 9.1.0"]);
    await postgres.run("UPDATE authserve.metadata SET value = $1 WHERE key = 'schema_steps'", [steps]);
    await postgres.run("UPDATE authserve.schema_version SET version = $1", [SCHEMA + 1]);
    await assert.rejects(prepareSchema(postgres, log), (error) => {
      assert.ok(error instanceof OperatorError);
      assert.match(error.message, /has schema \d+ and this version knows up to \d+: run authserve 9\.1\.0 or newer/);
      return true;
    });
  });

  const OTHER_SCHEMA =
    /has another schema 1 than this version: run the authserve that made it, or .*DROP SCHEMA authserve CASCADE/;

  test("that another step with the same number has made is refused with a remedy, and unchanged", async (t) => {
    const { postgres } = await tempPostgres(t);
    await postgres.run("UPDATE authserve.metadata SET value = '[\"other\"]' WHERE key = 'schema_steps'");
    await assert.rejects(prepareSchema(postgres, log), OTHER_SCHEMA);
    const [left] = await postgres.rows("SELECT value FROM authserve.metadata WHERE key = 'schema_steps'");
    assert.deepEqual(left, { value: '["other"]' });
  });

  test("from before its steps had digests gets them, unless its first step was another one", async (t) => {
    const { postgres } = await tempPostgres(t);
    await postgres.run("DELETE FROM authserve.metadata");
    await prepareSchema(postgres, log);
    assert.equal(stepsToRecord((await readSchema(postgres)).steps, STEP_DIGESTS), null);
    await postgres.run("DELETE FROM authserve.metadata");
    await postgres.run("ALTER TABLE authserve.source_secrets DROP COLUMN mark");
    await assert.rejects(prepareSchema(postgres, log), OTHER_SCHEMA);
  });
});

suite("a connection to PostgreSQL", needsPostgres(), () => {
  test("runs a transaction again after a deadlock", async (t) => {
    const { postgres } = await tempPostgres(t);
    await postgres.run("CREATE TABLE locked (id bigint PRIMARY KEY, number bigint)");
    await postgres.run("INSERT INTO locked VALUES (1, 0), (2, 0)");
    const lock = (id: number) => `UPDATE locked SET number = number + 1 WHERE id = ${id}`;
    let tries = 0;
    const both = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    const inOrder = async (one: number, other: number) => {
      await postgres.transaction(async (queries) => {
        // The second try could take its row before the other one wakes, and deadlock once more.
        if (tries === 2) await ended.promise;
        await queries.run(lock(one));
        // Each has its first lock before one asks for the other's.
        if (++tries === 2) both.resolve();
        await both.promise;
        await queries.run(lock(other));
      });
      ended.resolve();
    };
    await Promise.all([inOrder(1, 2), inOrder(2, 1)]);
    assert.deepEqual(await postgres.rows("SELECT number FROM locked"), [{ number: 2 }, { number: 2 }]);
    assert.equal(tries, 3);
  });

  test("does not prolong the time limit when it runs a transaction again", async (t) => {
    const { postgres, url } = await tempPostgres(t);
    await postgres.run("CREATE TABLE locked (id bigint PRIMARY KEY)");
    await postgres.run("INSERT INTO locked VALUES (1), (2)");
    const { postgres: hurried } = openWatched(t, url, { timeoutMs: SHORT_MS });
    let tries = 0;
    const inOrder = (on: Postgres, setting: string, one: number, other: number) =>
      on.transaction(async (queries) => {
        tries++;
        await queries.run(setting);
        await queries.run("SELECT id FROM locked WHERE id = $1 FOR UPDATE", [one]);
        // The first try takes most of the time that a second one needs, too.
        await queries.run("SELECT pg_sleep(0.5)");
        await queries.run("SELECT id FROM locked WHERE id = $1 FOR UPDATE", [other]);
      });
    // On a machine that stalls, the time may be over before the deadlock.
    await until(async () => {
      tries = 0;
      const patient = inOrder(postgres, "SET LOCAL deadlock_timeout = '60s'", 2, 1);
      await unavailable(() => inOrder(hurried, "SET LOCAL deadlock_timeout = '200ms'", 1, 2));
      await patient;
      return tries === 3;
    });
  });

  test("plans a statement again whose result has changed its type", async (t) => {
    const { postgres } = await tempPostgres(t);
    await postgres.run("CREATE TABLE changed (number integer)");
    const read = () => postgres.rows("SELECT number FROM changed");
    await read();
    await postgres.run("ALTER TABLE changed ALTER number TYPE text");
    await postgres.run("INSERT INTO changed VALUES ('one')");
    assert.deepEqual(await read(), [{ number: "one" }]);
  });

  test("rolls a transaction back whose statement fails, also if nobody waits for the statement", async (t) => {
    const { postgres } = await tempPostgres(t);
    await failsWith(
      "store_unavailable",
      postgres.transaction(async (queries) => {
        void queries.run("INSERT INTO authserve.metadata VALUES ('a', 'b')").catch(() => {});
        void queries.run("INSERT INTO authserve.metadata VALUES ('a', 'c')").catch(() => {});
      }),
    );
    assert.deepEqual(await postgres.rows("SELECT * FROM authserve.metadata WHERE key = 'a'"), []);
  });

  test("corrects a synchronous_commit that could lose acknowledged events", async (t) => {
    const { postgres, url } = await tempPostgres(t);
    await postgres.run(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET synchronous_commit = off`);
    const facts: (string | null)[] = [];
    const other = openPostgres(t, url, {}, { onUp: ({ unsafeCommit }) => void facts.push(unsafeCommit) });
    assert.deepEqual(await other.rows("SHOW synchronous_commit"), [{ synchronous_commit: "on" }]);
    assert.deepEqual(facts, [null]);
  });

  test("uses TLS, and refuses a certificate that no trusted authority has signed", async (t) => {
    const server = await startPostgres(t, { tls: { cert: TLS_CERT_FILE, key: TLS_KEY_FILE } });
    const ca = readFileSync(TLS_CERT_FILE, "utf8");
    const encrypted = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
    for (const tls of [{ ca, rejectUnauthorized: true }, { rejectUnauthorized: false }])
      assert.deepEqual(await openPostgres(t, server.url(), { tls }).rows(encrypted), [{ ssl: true }]);
    const untrusted = openPostgres(t, server.url(), { tls: { rejectUnauthorized: true } });
    await failsWith("store_unavailable", untrusted.rows("SELECT 1"));
  });

  test("does not fall back to plain text when the server has no TLS", async (t) => {
    const { url } = await tempPostgres(t);
    const error = await failsWith(
      "store_unavailable",
      openPostgres(t, url, { tls: { rejectUnauthorized: false } }).rows("SELECT 1"),
    );
    assert.match(String(error.cause), /does not support SSL/);
  });
});

suite("a pooler in transaction mode", { ...needsPostgres(), ...needsPgbouncer() }, () => {
  test("is recognized, and events are stored and claimed over it, with or without its named statements", async (t) => {
    const server = await startPostgres(t);
    const url = await startPgbouncer(t, server);
    let isPooled = false;
    let warnings = 0;
    const watcher = {
      onUp: (facts: { isPooled: boolean }) => {
        isPooled = facts.isPooled;
      },
      onUnnamed: () => void warnings++,
    };
    const postgres = openPostgres(t, url, { poolSize: 6 }, watcher);
    await prepareSchema(postgres, log);
    const store = createPostgresEventStore(postgres);
    const batches = Array.from({ length: 20 }, (_, n) => store.append([newEvent({ eventId: `e-${n}` })]));
    await Promise.all(batches);
    assert.equal((await claim(store, { limit: 50 })).claimed.length, 20);
    assert.equal(isPooled, true);
    assert.ok(warnings <= 1, `${warnings} warnings`);
    assert.equal(sqlState(await postgres.rows("SELECT 1 / 0").catch((error) => error)), "22012");
  });

  test("and without named statements is told once, and every operation succeeds", async (t) => {
    const server = await startPostgres(t);
    const options = pgbouncerMinor() < 21 ? [] : ["max_prepared_statements = 0"];
    const url = await startPgbouncer(t, server, options);
    let warnings = 0;
    const postgres = openPostgres(t, url, { poolSize: 6 }, { onUnnamed: () => void warnings++ });
    const ask = (number: number) =>
      postgres.transaction((queries) => queries.rows("SELECT $1::bigint AS number", [number]));
    await until(async () => {
      const numbers = Array.from({ length: 12 }, (_, number) => number);
      const rows = await Promise.all(numbers.map(ask));
      assert.deepEqual(
        rows.flat(),
        numbers.map((number) => ({ number })),
      );
      return warnings > 0;
    });
    await Promise.all([1, 2, 3, 4, 5, 6].map(ask));
    assert.equal(warnings, 1);
  });
});
