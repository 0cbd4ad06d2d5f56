import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { AttemptOutcome } from "../../../src/events/job.ts";
import type { EventDetail, JobDetail } from "../../../src/events/store.ts";
import { eventOf, idOf, payloadOf } from "./event.ts";
import { createJudge, createLedger, type Faults, type Ledger } from "./verdict.ts";

const [FIRST, SECOND] = [
  { round: 1, sender: 3, number: 1 },
  { round: 1, sender: 3, number: 2 },
];

function job(route: string, outcomes: AttemptOutcome[], changes: Partial<JobDetail> = {}): JobDetail {
  const times = { startedAt: 0, finishedAt: 0, error: null, response: null, responseStatus: null, isProbe: false };
  const history = outcomes.map((outcome, index) => ({
    ...times,
    attempt: index + 1,
    replay: 0,
    attemptOfBudget: index + 1,
    outcome,
  }));
  const ended = {
    status: "processed",
    attempts: history.length,
    attemptsOfBudget: history.length,
    replays: 0,
    probes: 0,
    dueAt: null,
    leased: false,
  } as const;
  const none = {
    orderingKey: null,
    pausedAt: null,
    pausedUntil: null,
    earlier: null,
    lastError: null,
    deadLetter: null,
    discarded: null,
  };
  return { route, ...ended, ...none, history, ...changes };
}

/** An event of the test as it is stored when all went well. */
function stored(changes: Partial<EventDetail> = {}): EventDetail {
  const summary = { source: "default", eventId: idOf(FIRST), type: "selftest.crash", status: "processed" } as const;
  const times = { attempts: 1, routes: [], receivedAt: 0, processedAt: 0, lastError: null };
  const delivery = { address: "127.0.0.1", secret: "env:WEBHOOK_SECRET", headers: {}, contentType: "application/json" };
  const jobs = [job("free", ["succeeded"]), job("ordered", ["lease_expired", "failed", "succeeded"])];
  const payload = Buffer.from(payloadOf(FIRST));
  return { ...summary, ...times, ...delivery, payload, erased: null, jobs, conflicts: [], repeats: [], ...changes };
}

/** The ledger after one event was sent, acknowledged and delivered to both targets. */
function ledger(): Ledger {
  const all = createLedger();
  for (const ids of [all.sent, all.acknowledged, all.delivered.free, all.delivered.ordered]) ids.add(idOf(FIRST));
  return all;
}

function faultsOf(events: EventDetail[], known = ledger()): Partial<Faults> {
  const judge = createJudge(known);
  for (const one of events) judge.add(one);
  const { faults } = judge.verdict();
  return Object.fromEntries(Object.entries(faults).filter(([, lines]) => lines.length > 0));
}

suite("the verdict", () => {
  test("finds nothing if the event is stored and each job has one success", () => {
    assert.deepEqual(faultsOf([stored()]), {});
  });

  test("ignores an event that was not acknowledged and is not stored", () => {
    const known = ledger();
    known.sent.add(idOf(SECOND));
    assert.deepEqual(faultsOf([stored()], known), {});
  });

  test("finds a lost event", () => {
    assert.deepEqual(faultsOf([]), { lost: ["r1-s3-1"] });
  });

  for (const [what, events, line] of [
    ["that was never sent", [stored(), stored({ eventId: "r1-s3-2" })], "r1-s3-2 was never sent"],
    ["that is stored twice", [stored(), stored()], "r1-s3-1 is stored twice"],
    ["with another content", [stored({ payload: Buffer.from("{}") })], "r1-s3-1 has another content"],
  ] as const) {
    test(`finds an event ${what}`, () => assert.deepEqual(faultsOf([...events]).unexpected, [line]));
  }

  const good = job("ordered", ["succeeded"]);
  for (const [what, jobs, line] of [
    ["settled twice", [job("free", ["succeeded", "succeeded"]), good], "free: succeeded 2 times"],
    ["never settled", [job("free", []), good], "free: succeeded 0 times"],
    ["attempted after its success", [job("free", ["succeeded", "failed"]), good], "free: was attempted again after"],
    ["that lacks an attempt", [job("free", ["succeeded"], { attempts: 2 }), good], "free: has 1 of its 2 attempts"],
    ["that failed", [job("free", ["failed"], { status: "failed", lastError: "no" }), good], "free: is failed (no)"],
    ["that waits", [job("free", [], { status: "queued" }), good], "free: is queued"],
    ["that is missing", [good], "has jobs for ordered"],
    ["that is there twice", [good, good], "has jobs for ordered and ordered"],
  ] as const) {
    test(`finds a job ${what}`, () => {
      const { notSettledOnce = [], ...others } = faultsOf([stored({ jobs: [...jobs] })]);
      assert.deepEqual([notSettledOnce.length, others], [1, {}]);
      assert.ok(notSettledOnce[0]?.startsWith(`r1-s3-1 ${line}`), `${notSettledOnce}`);
    });
  }

  test("finds an event that failed though its jobs did not", () => {
    assert.deepEqual(faultsOf([stored({ status: "failed" })]), { notSettledOnce: ["r1-s3-1 is failed"] });
  });

  test("finds the end of a session that the app was not told, or was told while it was live", () => {
    const known = ledger();
    const { begun, told, toldEarly } = known.sessions;
    for (const sid of ["a", "b", "c"]) begun.add(sid);
    for (const sid of ["a", "c", "of a login that was not answered"]) told.add(sid);
    toldEarly.push("c");
    assert.deepEqual(faultsOf([stored()], known), {
      logouts: ["the app was not told of the end of b", "the app was told of the end of c, which was live"],
    });
  });

  test("finds a job that succeeded and was never delivered", () => {
    const known = ledger();
    known.delivered.free.clear();
    assert.deepEqual(faultsOf([stored()], known), {
      notSettledOnce: ["r1-s3-1 free: succeeded and did not reach its target"],
    });
  });
});

test("the id of an event has its round, sender and number", () => {
  assert.deepEqual(eventOf(idOf({ round: 12, sender: 3, number: 45 })), { round: 12, sender: 3, number: 45 });
  assert.equal(eventOf("evt_1"), null);
});
