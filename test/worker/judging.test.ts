import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { createJudgingMark } from "../../src/serve/judging-mark.ts";
import { openStored } from "../../src/webhook/content/stored-content.ts";
import { createJudging, NOT_JUDGED } from "../../src/worker/judging.ts";
import { explainRouting, reasonOf } from "../../src/worker/routing.ts";
import { newEvent } from "../helpers/events.ts";
import { handlerOf, route } from "../helpers/route.ts";
import { tempDir } from "../helpers/temp-dir.ts";
import { until } from "../helpers/until.ts";
import { openWorker } from "./open-worker.ts";

const WHEN = [{ on: "member", name: "a", tests: [{ op: "exists", value: true }] }] as const;

/** Opens payloads. Reading one with "poison" never ends. */
const openPoisoned = (event: Parameters<typeof openStored>[0]) => {
  const isPoison = () => Buffer.from(event.payload).includes("poison");
  const content = openStored(event);
  return {
    ...content,
    member(path: string) {
      while (isPoison());
      return content.member(path);
    },
  };
};

const numbered = (...ids: number[]) => ids.map((id) => ({ id, payload: { payload: Buffer.from("{}") } }));
const hang = (): never => {
  for (;;);
};

suite("judging", () => {
  test("an event whose judging does not end is a dead letter, and its neighbours are processed", async (t) => {
    const runs: string[] = [];
    const { events, worker, lines } = openWorker(t, async () => {}, {
      openPayload: openPoisoned,
      judgingTimeoutMs: 50,
    });
    const when = [route({ name: "when", when: WHEN }), route({ name: "all" })];
    worker.applyRoutes(when, ({ name }) => handlerOf(async ({ eventId }) => void runs.push(`${name} ${eventId}`)));
    const payload = (text: string) => Buffer.from(JSON.stringify({ a: text }));
    await events.append([
      newEvent({ eventId: "before", payload: payload("x") }),
      newEvent({ eventId: "bad", payload: payload("poison") }),
      newEvent({ eventId: "behind", payload: payload("x") }),
    ]);
    worker.start();
    await until(() => runs.length === 5);
    assert.deepEqual(runs.toSorted(), ["all bad", "all before", "all behind", "when before", "when behind"]);
    await until(async () => (await events.get("bad"))[0]?.status === "failed");
    const jobs = (await events.get("bad"))[0]?.jobs ?? [];
    assert.deepEqual(
      jobs.map((job) => [job.route, job.deadLetter?.reason ?? null, job.attempts]),
      [
        ["all", null, 1],
        ["when", NOT_JUDGED, 0],
      ],
    );
    assert.equal((await events.backlog()).failed, 1);
    assert.equal(lines.filter(({ event }) => event === "event_unjudged").length, 1);
  });

  test("the replay of an event that was set aside judges it anew", async (t) => {
    const runs: string[] = [];
    const { events, worker } = openWorker(t, async () => {});
    worker.applyRoutes([route({ when: WHEN })], () => handlerOf(async ({ eventId }) => void runs.push(eventId)));
    await events.append([
      newEvent({ eventId: "taken", payload: Buffer.from('{"a":1}') }),
      newEvent({ eventId: "other", payload: Buffer.from('{"b":1}') }),
    ]);
    const pending = (await events.pending(10)).map(({ id }) => id);
    const job = { route: "default", orderingKey: null, dueAt: 1, failure: NOT_JUDGED };
    await events.addJobs(
      pending,
      pending.map((event) => ({ event, ...job })),
    );
    for (const eventId of ["taken", "other"])
      assert.equal(await events.replay({ eventId, source: "default" }, Date.now()), 1);
    worker.start();
    await until(async () => (await events.get("taken"))[0]?.status === "processed");
    await until(async () => (await events.get("other"))[0]?.status === "failed");
    assert.deepEqual(runs, ["taken"]);
    const [found] = (await events.get("other"))[0]?.jobs ?? [];
    assert.equal(found?.deadLetter?.reason, "the route does not take it: when a does not hold");
  });

  test("an event during whose second judging the process ended is set aside, and no other one", async (t) => {
    const file = join(tempDir(t), "judging.json");
    const started = () => {
      const mark = createJudgingMark(file);
      t.after(mark.close);
      return createJudging(mark, 20);
    };
    // The process ends while it judges three events, and then while it judges the second one alone.
    writeFileSync(file, '{"events":[1,2,3],"isSecond":false}\nthe rest of a longer line\n');
    const judge = ({ id }: { id: number }) => `judged ${id}`;
    const setAside = ({ id }: { id: number }, reason: string) => `set aside ${id}: ${reason}`;
    const alone = await started().firstOf(numbered(1, 2, 3), judge, setAside);
    assert.deepEqual(alone, ["judged 1"], "each alone");
    writeFileSync(file, '{"events":[2],"isSecond":true}\n');
    const judging = started();
    const results: string[] = [];
    for (const rest of [numbered(1, 2, 3), numbered(2, 3), numbered(3)])
      results.push(...(await judging.firstOf(rest, judge, setAside)));
    assert.match(results.join(), /^judged 1,set aside 2: .*ended twice meanwhile,judged 3$/);
    assert.equal(await createJudgingMark(file).read(), null);
    const large = [{ id: 4, payload: { payload: Buffer.alloc(100_000) } }];
    const markOf = () => readFileSync(file, "utf8").split("\n", 1);
    assert.deepEqual(await judging.firstOf(large, markOf, () => []), [['{"events":[4],"isSecond":false}']]);
  });

  test("an event whose judging throws is set aside, and the reason has nothing of the payload", async () => {
    const judging = createJudging(undefined);
    const judge = () => {
      throw new RangeError("secret");
    };
    const setAside = (_: unknown, reason: string) => reason;
    assert.deepEqual(await judging.firstOf(numbered(1), judge, setAside), []);
    assert.deepEqual(await judging.firstOf(numbered(1), judge, setAside), [
      "its conditions could not be judged: RangeError",
    ]);
  });

  test("an event that did not end once, because the process was suspended, is judged again", async () => {
    const judging = createJudging(undefined, 20);
    const setAside = (): string => "set aside";
    assert.deepEqual(await judging.firstOf(numbered(1), hang, setAside), []);
    assert.deepEqual(await judging.firstOf(numbered(1), () => "judged", setAside), ["judged"]);
  });

  test("an explanation ends, and says of which routes nothing is known", () => {
    const routes = [route({ name: "all" }), route({ name: "when", when: WHEN }), route({ name: "last" })];
    const event = { payload: Buffer.from('"poison"'), contentType: "application/json", headers: "{}" };
    const verdicts = explainRouting(routes, { source: "s", type: "t" }, openPoisoned(event));
    assert.deepEqual(verdicts.map(reasonOf), [null, "time is over 2 s, expected at most 2 s", null]);
  });
});
