import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { suite, test } from "node:test";
import type { ClaimedJob } from "../../../src/events/job.ts";
import { DEFAULT_RETENTION } from "../../../src/events/retention.ts";
import { createLog } from "../../../src/log.ts";
import type { Postgres } from "../../../src/postgres/connection.ts";
import { createPostgresEventStore } from "../../../src/postgres/events.ts";
import { refuseUnfinishedMigration } from "../../../src/postgres/maintenance/migration.ts";
import { prepareSchema } from "../../../src/postgres/schema-update.ts";
import { createPostgresSessionStore } from "../../../src/postgres/sessions.ts";
import { smallStoresOn } from "../../../src/postgres/stores.ts";
import { createPostgresThrottleStore } from "../../../src/postgres/throttle.ts";
import { type Database, databaseFile, openDatabase } from "../../../src/sqlite/database.ts";
import { localStores } from "../../../src/sqlite/stores.ts";
import { alertChanges, alertRecord } from "../../contract/alert-store.ts";
import { clientTokenOf, codeOf, signingKeyOf } from "../../contract/client-store.ts";
import { loginOf, newFactorOf } from "../../contract/factor-store.ts";
import { newTokenOf } from "../../contract/token-store.ts";
import { needsPostgres } from "../../helpers/back-end.ts";
import { authserve, type Command, EXECUTABLE, startProgram } from "../../helpers/command.ts";
import { overwrite } from "../../helpers/damage.ts";
import { claim, claimOf, fanOut, NOW, newEvent, numbersOf } from "../../helpers/events.ts";
import { openPostgres, startPostgres, tempPostgres } from "../../helpers/postgres.ts";
import { PATIENT } from "../../helpers/several-servers.ts";
import { type Cleanup, tempDir } from "../../helpers/temp-dir.ts";
import { isWell, until } from "../../helpers/until.ts";

const USER = "u-1";
const ORIGIN = { network: "192.0.2.0/24", userAgent: "test" };
const BUCKETS = ["pair", "email:e", "address:a"];

/**
 * The events of {@link fillAll} that are the same in both stores: the lease of another one ends, and U+0000 is
 * replaced.
 */
const EVENT_IDS = ["processed", "failed", "discarded", "first", "second", "é-unsigned", "new"];

/** Runs the command. */
const migrate = (from: string, url: string, ...more: string[]) =>
  authserve(["migrate", "--from", from, ...more], { dir: from, env: { ...PATIENT, DATABASE_URL: url } });

async function migrated(from: string, url: string): Promise<{ resumed: boolean; tables: Record<string, number> }> {
  const { code, stdout, stderr } = await migrate(from, url, "--json");
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout);
}

/** A data directory that `fill` has filled. */
async function source(t: Cleanup, fill: (database: Database) => Promise<void>): Promise<string> {
  const dataDir = tempDir(t);
  const database = openDatabase(dataDir);
  await fill(database);
  database.close();
  return dataDir;
}

const withEvents =
  (count: number, payload = Buffer.from("{}")) =>
  async (database: Database) => {
    const { events } = localStores(database);
    await events.append(Array.from({ length: count }, (_, n) => newEvent({ eventId: `e-${n}`, payload })));
    await fanOut(events);
  };

const HELD = {
  source: "shop",
  reason: "signature_mismatch",
  method: "POST",
  origin: "https://hooks.example",
  target: "/webhook/shop",
  headers: "{}",
  mediaType: "application/json",
  address: "192.0.2.1",
  receivedAt: NOW,
};

/** Makes rows of each kind in each table. */
async function fillAll(database: Database): Promise<void> {
  const { events, sessions, throttle, sources, alerts, held, tokens, ...others } = localStores(database);
  const { catchUps, subscriptions, factors, people, audit, clients } = others;
  const add = async (eventId: string, orderingKey: string | null = null, route = "default") => {
    await events.append([newEvent({ eventId })]);
    const added = numbersOf(await events.pending(1));
    await events.addJobs(added, [{ event: added[0] as number, route, dueAt: 1, orderingKey }]);
  };
  const settle = async (to: "processed" | "failed") => {
    const { claimed } = await claim(events, { limit: 1 });
    const next = to === "processed" ? { to } : { to, reason: "no" };
    const error = to === "processed" ? null : "no";
    const ends = claimed.map((job) => ({ ...claimOf(job), next, startedAt: NOW, finishedAt: NOW, error }));
    assert.deepEqual(await events.settle(ends), [true]);
  };

  await events.append([newEvent({ eventId: "purged", receivedAt: 1 })]);
  await events.addJobs([1], []);
  await add("processed");
  await settle("processed");
  await add("failed");
  await settle("failed");
  await add("discarded");
  await settle("failed");
  await events.discard({ eventId: "discarded", source: "default" }, "unwanted", NOW);
  await add("leased");
  const [leased] = (await claim(events, { leaseMs: 10 * 365 * 86_400_000 })).claimed;
  const sent = { contentType: "text/plain", payload: Buffer.from([0, 255]) };
  await events.keepSentBody(claimOf(leased as ClaimedJob), sent);
  await add("erased");
  await events.erase({ eventId: "erased", source: "default" }, { reason: "asked for", now: NOW });
  const difference = { place: "body ñ", expected: "1", found: "2" };
  await events.addComparisons([
    { event: (leased as ClaimedJob).event, route: "next", at: NOW, outcome: "different", difference },
  ]);
  await add("first", "key", "ordered");
  await add("second", "key", "ordered");
  await events.pauseRoute("ordered", NOW, NOW + 5000);
  await events.append([newEvent({ eventId: "processed", payload: Buffer.from("other bytes") })]);
  await events.append([newEvent({ eventId: "jobless", headers: '{"x-nul":"a\0b"}' })]);
  await events.addJobs(numbersOf(await events.pending(1)), []);
  await events.reroute({ eventId: "failed", source: "default" });
  const unsigned = newEvent({ eventId: "é-unsigned", source: "other", bytesSha256: "ab".repeat(32) });
  await events.append([unsigned, newEvent({ eventId: "new" })]);
  await events.append([{ ...unsigned, eventId: "é-repeat", headers: '{"x-id":"ñ"}' }]);
  for (let cursor: string | null = ""; cursor !== null; ) {
    const processed = { ...DEFAULT_RETENTION.processed, forMs: 1000 };
    const retention = { ...DEFAULT_RETENTION, processed, idsMs: Number.POSITIVE_INFINITY };
    cursor = (await events.purge({ retention, now: NOW + 500, limit: 100, ...(cursor && { cursor }) })).next;
  }

  const caughtUp = { coveredUntil: NOW, oldestOpen: null, ranAt: NOW, error: null, notBefore: null };
  await catchUps.saveState("shop", caughtUp);
  await catchUps.claim("shop", { item: "ñ", at: NOW }, { now: NOW, most: 3, restMs: 1 });
  await catchUps.finish("shop", "ñ", NOW);
  const ends = { id: "ñ", resource: null, startedAt: NOW, expiresAt: NOW, triedAt: NOW, error: null };
  await subscriptions.save("mail", ends);
  await alerts.save(alertChanges({ changed: [alertRecord()] }));
  await alerts.addSilence({ id: "s-1", name: null, labels: { é: "ñ" }, reason: null, until: NOW }, 1);
  const entry = { who: "token:ci", origin: "192.0.2.1", action: "route.pause", detail: "{}" } as const;
  for (const at of [NOW, NOW + 1]) await audit.append({ ...entry, at });
  await tokens.create(newTokenOf("ci"));
  await tokens.create(newTokenOf("used", { expiresAt: null }));
  await tokens.use("used", NOW, "192.0.2.0/24");
  await people.take([{ id: "ada", email: "ada@example.com" }], [], "mark");
  await people.setPassword("ada", "$argon2id$");
  await people.invite("ada", "digest", NOW);
  await people.openInvitation("digest", "browser", NOW - 1);
  await factors.add("", newFactorOf("totp"));
  await factors.add("ada", newFactorOf("key", { kind: "passkey" }));
  await factors.use("ada", "key", 2 ** 32 - 1, NOW);
  for (const account of ["", "ada"]) await factors.setRecoveryCodes(account, [`digest of ${account}`]);
  await factors.spend("challenge", NOW + 1, NOW);
  await factors.addLogin("", loginOf("s-1", { userAgent: null }));
  await factors.addLogin("ada", loginOf("s-2", { network: "2001:db8::/48" }));
  await clients.addCode(codeOf("unused", { method: null, nonce: null, challenge: null }));
  await clients.addCode(codeOf("a"));
  await clients.useCode(codeOf("a").digest);
  await clients.addTokens([clientTokenOf("access"), clientTokenOf("refresh", { kind: "refresh" })]);
  await clients.rotate(clientTokenOf("refresh").digest, [clientTokenOf("next", { nonce: null })]);
  await clients.settleLogout(clientTokenOf("a"), { to: "failed", error: "ñ" }, NOW);
  await clients.setConsent(USER, "photos", "openid", NOW);
  await clients.addSigningKey(signingKeyOf("k"));
  const delivery = { ...HELD, body: Buffer.from([0, 255]) };
  await held.hold([{ delivery, bounds: { count: 1, bytes: 100, forMs: 1000 } }]);
  await sources.add(
    [
      {
        source: "default",
        received: 3,
        duplicates: 0,
        conflicts: 0,
        repeats: 0,
        refused: 1,
        refusals: { no_signature: 1 },
        lastReceivedAt: NOW,
        secrets: [{ name: "env:S", mark: "0a1b", lastUsedAt: NOW }],
      },
    ],
    NOW,
  );
  await sessions.bind(USER, "digest");
  await sessions.bind("u-2", "other digest");
  await sessions.replace(USER, "s-1", 3600, ORIGIN);
  await sessions.replace(USER, "s-2", 3600, ORIGIN);
  await sessions.registerDevice(USER, "s-2", "{}");
  await sessions.proveDevice(USER, "s-2", 1, 2);
  const reserved = await throttle.reserve(
    BUCKETS.map((bucket) => ({ bucket, limit: 10 })),
    Date.now(),
  );
  assert.equal(reserved.outcome, "reserved");
  if (reserved.outcome === "reserved") await throttle.fail(reserved.ids, Date.now());
  await throttle.remember("pair", Date.now());
}

/** A value as both databases give it. */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString("hex");
  if (typeof value === "boolean") return Number(value);
  return typeof value === "string" ? value.replaceAll("\0", "\uFFFD") : value;
}

const plainRows = (rows: readonly object[]) =>
  rows.map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, plain(value)])));

/** Tables whose columns are the same in both databases, with the columns that order their rows. */
const SAME = {
  events: "id",
  contents: "event",
  events_by_minute: "minute",
  attempts: "event, route, attempt",
  dead_letters: "event, route",
  discards: "event, route",
  conflicts: "event",
  repeats: "event, number",
  sent_bodies: "event, route",
  erasures: "event",
  shadow_differences: "event, route",
  shadow_counts: "route, outcome",
  untaken: "event",
  reroutes: "event",
  paused_routes: "route",
  stats_minutes: "at, outcome, source, route",
  stats_hours: "at, outcome, source, route",
  latency_minutes: "at, slot, source, route",
  latency_hours: "at, slot, source, route",
  alerts: "id",
  alert_silences: "id",
  machine_tokens: "name",
  audit: "number",
  audit_ends: "name",
  login_factors: "id",
  recovery_codes: "digest",
  spent_codes: "id",
  logins: "sid",
  login_networks: "network",
  people: "id",
  person_factors: "id",
  person_codes: "digest",
  person_logins: "sid",
  person_networks: "account, network",
  client_codes: "digest",
  client_tokens: "digest",
  client_sessions: "client, sid",
  client_consents: "user_id, client",
  signing_keys: "id",
  held: "id",
  held_tally: "source",
  source_counts: "source",
  source_refusals: "source, reason",
  source_secrets: "source, name",
  catch_ups: "source",
  catch_up_items: "source, item",
  subscriptions: "source",
  supersessions: "user_id, sid",
  session_devices: "user_id",
  known_addresses: "bucket",
};

async function assertSame(dataDir: string, postgres: Postgres): Promise<void> {
  const database = openDatabase(dataDir);
  try {
    for (const [table, order] of Object.entries(SAME)) {
      const found = plainRows(await postgres.rows<object>(`SELECT * FROM authserve.${table} ORDER BY ${order}`));
      const columns = Object.keys(found[0] ?? {});
      assert.ok(columns.length > 0, `${table} is empty`);
      const expected = database.prepare<[], object>(`SELECT ${columns} FROM ${table} ORDER BY ${order}`).all();
      assert.deepEqual(found, plainRows(expected), table);
    }
  } finally {
    database.close();
  }
}

/** Several pages of a migration. */
const MANY = 12_000;

/** Lets a migration wait in the second page of payloads. */
const WAIT = [
  `CREATE FUNCTION authserve.wait() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(600); RETURN NEW; END $$`,
  `CREATE TRIGGER wait BEFORE INSERT ON authserve.contents FOR EACH ROW WHEN (NEW.event = 7000) EXECUTE FUNCTION authserve.wait()`,
];

const WAITING = `
SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'`;

const isWaiting = async (postgres: Postgres) => (await postgres.rows(WAITING)).length > 0;

/** Starts a migration that waits in the middle. */
async function startWaiting(postgres: Postgres, dataDir: string, url: string): Promise<Command> {
  for (const statement of WAIT) await postgres.run(statement);
  const env = { ...PATIENT, DATABASE_URL: url };
  const command = startProgram(EXECUTABLE, ["migrate", "--from", dataDir], { dir: dataDir, env });
  await until(() => isWaiting(postgres));
  return command;
}

suite("authserve migrate", { ...needsPostgres() }, () => {
  test("copies the rows of every table, and changes nothing in the data directory", async (t) => {
    const { postgres, url } = await tempPostgres(t);
    const dataDir = await source(t, fillAll);
    const before = readFileSync(databaseFile(dataDir));
    const { resumed, tables } = await migrated(dataDir, url);
    assert.equal(resumed, false);
    for (const [name, rows] of Object.entries(tables)) {
      const [count] = await postgres.rows<{ rows: number }>(`SELECT count(*) AS rows FROM authserve.${name}`);
      assert.deepEqual([name, count?.rows], [name, rows]);
      assert.ok(rows > 0, `${name} is empty`);
    }
    assert.deepEqual(readFileSync(databaseFile(dataDir)), before);
    await assertSame(dataDir, postgres);
    assert.deepEqual(await postgres.rows("SELECT key FROM authserve.metadata WHERE key LIKE 'migration%'"), [
      { key: "migration" },
    ]);
  });

  test("counts queued events, and those before fan-out, with their bytes", async (t) => {
    const { postgres, url } = await tempPostgres(t);
    const dataDir = await source(t, fillAll);
    await migrated(dataDir, url);
    const [counts] = await postgres.rows<object>(`SELECT * FROM authserve.tally WHERE route = ''`);
    const [queued] = await postgres.rows<{ count: number; bytes: number }>(`
SELECT count(*) AS count, sum(size) AS bytes FROM authserve.events WHERE id IN (
  SELECT event FROM authserve.unrouted UNION SELECT event FROM authserve.jobs WHERE status = 'queued')`);
    const [processed, failed] = await postgres.rows<{ bytes: number }>(`
SELECT sum(size) AS bytes FROM authserve.events JOIN authserve.contents ON event = id
WHERE event_id IN ('processed', 'discarded', 'erased', 'jobless', 'failed') GROUP BY event_id = 'failed' ORDER BY event_id = 'failed'`);
    assert.deepEqual(counts, {
      route: "",
      queued: queued?.count,
      queued_bytes: queued?.bytes,
      processed: 4,
      processed_bytes: processed?.bytes,
      failed: 1,
      failed_bytes: failed?.bytes,
      discarded: 2,
      unrouted: 1,
      conflicts: 1,
      ids: 11,
    });
    assert.equal(queued?.count, 5);
    assert.deepEqual(
      await postgres.rows(
        `SELECT route, queued, processed, failed, discarded FROM authserve.tally WHERE route <> '' ORDER BY route`,
      ),
      [
        { route: "default", queued: 1, processed: 1, failed: 1, discarded: 2 },
        { route: "ordered", queued: 2, processed: 0, failed: 0, discarded: 0 },
      ],
    );
  });

  test("makes leased jobs due, and leaves ordered ones in line", async (t) => {
    const { postgres, url } = await tempPostgres(t);
    await migrated(await source(t, fillAll), url);
    const jobs = await postgres.rows(`
SELECT event_id AS "eventId", lease_owner AS owner, in_line AS "inLine", due_at <= received_at AS "isDue"
FROM authserve.jobs JOIN authserve.events ON id = event WHERE status = 'queued' ORDER BY id`);
    assert.deepEqual(jobs, [
      { eventId: "leased", owner: "a", inLine: false, isDue: true },
      { eventId: "first", owner: null, inLine: true, isDue: true },
      { eventId: "second", owner: null, inLine: true, isDue: null },
    ]);
  });

  test("keeps sessions, credentials, and each failed login under one number", async (t) => {
    const { postgres, url } = await tempPostgres(t);
    await migrated(await source(t, fillAll), url);
    assert.deepEqual(
      await postgres.rows("SELECT user_id, sid, network, credential FROM authserve.sessions ORDER BY user_id"),
      [
        { user_id: USER, sid: "s-2", network: ORIGIN.network, credential: "digest" },
        { user_id: "u-2", sid: null, network: null, credential: "other digest" },
      ],
    );
    const sessions = createPostgresSessionStore(postgres);
    assert.deepEqual((await sessions.find(USER))?.origin, ORIGIN);
    assert.deepEqual((await sessions.supersession(USER, "s-1"))?.by, ORIGIN);
    const throttle = createPostgresThrottleStore(postgres);
    const failures = () => Promise.all(BUCKETS.map((bucket) => throttle.failures(bucket, Date.now())));
    assert.deepEqual(await failures(), [1, 1, 1]);
    assert.equal(await throttle.isKnown("pair", 0), true);
    const [pair = "", email = "", address = ""] = BUCKETS;
    assert.equal(await throttle.clear({ pair, email, networks: [], address, codes: "code:x" }), 1);
    assert.deepEqual(await failures(), [0, 0, 0]);
  });

  test("keeps what the stores of events and sources answer", async (t) => {
    const { postgres, url } = await tempPostgres(t);
    const dataDir = await source(t, fillAll);
    await migrated(dataDir, url);
    const copied = createPostgresEventStore(postgres);
    const database = openDatabase(dataDir);
    t.after(() => database.close());
    const { events, sources } = localStores(database);
    assert.deepEqual(await smallStoresOn(postgres).sources.list(), await sources.list());
    for (const eventId of EVENT_IDS) {
      const [original, copy] = [await events.get(eventId), await copied.get(eventId)];
      assert.deepEqual([copy.length, ...copy], [1, ...original], eventId);
    }
    assert.deepEqual(await copied.get("purged"), []);
    assert.deepEqual(await copied.routes(NOW), await events.routes(NOW));
    assert.deepEqual({ ...(await copied.backlog()), bytes: 0 }, { ...(await events.backlog()), bytes: 0 });
    assert.deepEqual((await copied.list({ limit: 100 })).items, (await events.list({ limit: 100 })).items);
    assert.deepEqual(await copied.pending(10), await events.pending(10));
    assert.deepEqual(await copied.rerouted(10), await events.rerouted(10));
  });

  test("gives later events larger numbers", async (t) => {
    const { postgres, url } = await tempPostgres(t);
    await migrated(await source(t, withEvents(7)), url);
    assert.deepEqual(await postgres.rows("SELECT nextval('authserve.events_id_seq') AS id"), [{ id: 8 }]);
  });

  test("of an empty store gives an empty store", async (t) => {
    const { postgres, url } = await tempPostgres(t);
    const { tables } = await migrated(await source(t, async () => {}), url);
    assert.deepEqual([tables.events, tables.tally], [0, 1]);
    assert.deepEqual(await postgres.rows("SELECT nextval('authserve.events_id_seq') AS id"), [{ id: 1 }]);
  });

  test("goes on where a killed run stopped, and no server may start before", async (t) => {
    const { postgres, url } = await tempPostgres(t);
    const dataDir = await source(t, withEvents(MANY, Buffer.alloc(300, "x")));
    const run = await startWaiting(postgres, dataDir, url);
    run.child.kill("SIGKILL");
    assert.equal((await run.exited).signal, "SIGKILL");
    await postgres.run(`SELECT pg_terminate_backend(pid) FROM (${WAITING}) AS waiting`);
    await until(async () => !(await isWaiting(postgres)));
    await postgres.run("DROP TRIGGER wait ON authserve.contents");
    await assert.rejects(
      refuseUnfinishedMigration(postgres),
      /has an unfinished migration: run authserve migrate again/,
    );
    const { resumed, tables } = await migrated(dataDir, url);
    assert.deepEqual([resumed, tables.events, tables.contents, tables.jobs], [true, MANY, MANY, MANY]);
    await refuseUnfinishedMigration(postgres);
    const again = await migrate(dataDir, url);
    assert.equal(again.code, 2);
    assert.match(again.stderr, /has finished at .*Z\n {2}hint: start the server with DATABASE_URL\n$/);
  });

  test("goes on after a crash of PostgreSQL", async (t) => {
    const server = await startPostgres(t);
    const url = server.url(await server.createDatabase());
    const postgres = openPostgres(t, url);
    await prepareSchema(postgres, createLog("silent"));
    const dataDir = await source(t, withEvents(MANY, Buffer.alloc(300, "x")));
    const run = await startWaiting(postgres, dataDir, url);
    await server.kill();
    assert.equal((await run.exited).code, 1);
    assert.match(run.stderr(), /^error: the database of DATABASE_URL cannot be used \(.*\)\n {2}hint: .*goes on/);
    await server.restart();
    await until(() => isWell(() => postgres.run("DROP TRIGGER IF EXISTS wait ON authserve.contents")));
    const { resumed, tables } = await migrated(dataDir, url);
    assert.deepEqual([resumed, tables.events, tables.contents, tables.jobs], [true, MANY, MANY, MANY]);
  });

  test("refuses to go on when the data has changed", async (t) => {
    const { postgres, url } = await tempPostgres(t);
    const dataDir = await source(t, withEvents(3));
    await migrated(dataDir, url);
    await postgres.run(
      `UPDATE authserve.metadata SET value = jsonb_set(value::jsonb, '{finishedAt}', 'null')::text WHERE key = 'migration'`,
    );
    const database = openDatabase(dataDir);
    await localStores(database).events.append([newEvent({ eventId: "later" })]);
    database.close();
    const { code, stderr } = await migrate(dataDir, url);
    assert.equal(code, 2);
    assert.match(stderr, /unfinished migration of other data, or the data has changed since\n {2}hint: to begin again/);
  });

  test("refuses a database that is in use, and leaves it as it is", async (t) => {
    const { postgres, url } = await tempPostgres(t);
    await postgres.run("INSERT INTO authserve.source_counts VALUES ('default', 1, 0, NULL)");
    const { code, stderr } = await migrate(await source(t, withEvents(3)), url);
    assert.equal(code, 2);
    assert.match(stderr, /is in use: its table authserve\.source_counts has rows\n {2}hint: name an empty database/);
    assert.deepEqual(await postgres.rows("SELECT FROM authserve.events"), []);
    await refuseUnfinishedMigration(postgres);
  });

  test("names the table that differs in the end", async (t) => {
    const { postgres, url } = await tempPostgres(t);
    await postgres.run(`
CREATE FUNCTION authserve.change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.last_error = 'changed'; RETURN NEW; END $$`);
    await postgres.run(
      "CREATE TRIGGER change BEFORE INSERT ON authserve.jobs FOR EACH ROW WHEN (NEW.event = 2) EXECUTE FUNCTION authserve.change()",
    );
    const { code, stderr } = await migrate(await source(t, withEvents(3)), url);
    assert.equal(code, 1);
    assert.match(stderr, /the table authserve\.jobs differs from its source/);
    await assert.rejects(refuseUnfinishedMigration(postgres));
  });

  test("stops at a damaged event, which it names, and no server may start", async (t) => {
    const { postgres, url } = await tempPostgres(t);
    const dataDir = await source(t, async (database) => {
      const { events } = localStores(database);
      const payload = Buffer.from("this is to be damaged");
      await events.append([newEvent(), newEvent({ eventId: "e-2", payload })]);
    });
    overwrite(databaseFile(dataDir), "to be damaged", "to be DAMAGED");
    const { code, stderr } = await migrate(dataDir, url);
    assert.equal(code, 1);
    assert.match(
      stderr,
      /the stored bytes of event e-2 of source default do not match their checksum\n {2}hint: restore a backup from before with DATA_DIR=.* and without DATABASE_URL, or /,
    );
    await assert.rejects(refuseUnfinishedMigration(postgres));
  });
});
