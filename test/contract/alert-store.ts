import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { AlertRecord, Silence } from "../../src/alerts/alert.ts";
import type { AlertChanges, AlertStore } from "../../src/alerts/store.ts";
import type { Cleanup } from "../helpers/temp-dir.ts";

const NOW = 1_800_000_000_000;

/** An alert that fires and was announced, with some members set by the test. */
export function alertRecord(changes: Partial<AlertRecord> = {}): AlertRecord {
  return {
    id: "a1",
    name: "AuthserveSourceSilent",
    labels: { source: "stripe" },
    summary: "the source stripe has received nothing for 2 h",
    remedy: "check the webhook at the sender",
    since: NOW,
    firedAt: NOW,
    resolvedAt: null,
    isAnnounced: true,
    ...changes,
  };
}

/** A silence of every alert for an hour, with some members set by the test. */
function silence(changes: Partial<Silence> = {}): Silence {
  return { id: "s1", name: null, labels: {}, reason: null, until: NOW + 3_600_000, ...changes };
}

/** Changes of nothing, with some members set by the test. */
export function alertChanges(changes: Partial<AlertChanges> = {}): AlertChanges {
  return { changed: [], removed: [], message: null, notifiers: [], ...changes };
}

/** A message about one alert for these notifiers. */
const messageFor = (notifiers: string[], summary: string) =>
  alertChanges({ message: { alerts: [alertRecord({ summary })], at: NOW }, notifiers });

const idsOf = async (store: AlertStore) => (await store.read()).alerts.map(({ id }) => id);
const silencesOf = async (store: AlertStore) => (await store.read()).silences.map(({ id }) => id);

/** The messages that are next, each as notifier and summary. */
const nextOf = async (store: AlertStore) =>
  (await store.nextMessages()).map(({ notifier, message }) => `${notifier} ${message.alerts[0]?.summary}`);

/** The contract of every alert store. `open` returns an empty one, which is closed after the test. */
export function alertStoreContract(adapter: string, open: (context: Cleanup) => Promise<AlertStore>): void {
  suite(`alert store: ${adapter}`, () => {
    test("is empty at first", async (t) => {
      const store = await open(t);
      assert.deepEqual(await store.read(), { alerts: [], silences: [] });
      assert.deepEqual(await store.nextMessages(), []);
    });

    test("an alert is kept with every member", async (t) => {
      const store = await open(t);
      const alerts = [
        alertRecord({ id: "a", labels: { source: "ñandú", secret: 'file:it\'s "here"' }, summary: "0\u0000\u{1f600}" }),
        alertRecord({ id: "b", labels: {}, firedAt: null, isAnnounced: false }),
        alertRecord({ id: "c", resolvedAt: NOW + 5 }),
      ];
      await store.save(alertChanges({ changed: alerts }));
      assert.deepEqual((await store.read()).alerts, alerts);
    });

    test("alerts, and silences that end at one time, are in the order of their bytes", async (t) => {
      const store = await open(t);
      const ids = ["z", "é", "😀", "Z", "\uff5e"];
      const inOrder = ["Z", "z", "é", "\uff5e", "😀"];
      await store.save(alertChanges({ changed: ids.map((id) => alertRecord({ id })) }));
      for (const id of ids) await store.addSilence(silence({ id, until: 8.64e15 }), -NOW);
      await store.addSilence(silence({ id: "early", until: -5 }), -NOW);
      assert.deepEqual(await idsOf(store), inOrder);
      assert.deepEqual(await silencesOf(store), ["early", ...inOrder]);
      assert.equal((await store.read()).silences.at(-1)?.until, 8.64e15);
    });

    test("changed alerts replace those of the same id, and removed ones are forgotten", async (t) => {
      const store = await open(t);
      await store.save(alertChanges({ changed: ["b", "a", "c"].map((id) => alertRecord({ id })) }));
      const over = alertRecord({ id: "b", resolvedAt: NOW + 5 });
      await store.save(alertChanges({ changed: [over, alertRecord({ id: "d" })], removed: ["a", "none"] }));
      assert.deepEqual(await idsOf(store), ["b", "c", "d"]);
      assert.deepEqual((await store.read()).alerts[0], over);
    });

    test("a message is queued for each notifier, and due at its time", async (t) => {
      const store = await open(t);
      const message = { alerts: [alertRecord({ summary: "it's ñ" })], at: NOW };
      await store.save(alertChanges({ message, notifiers: ["pager", "chat"] }));
      const queued = await store.nextMessages();
      assert.deepEqual(
        queued.map(({ id: _, ...rest }) => rest),
        ["pager", "chat"].map((notifier) => ({ notifier, message, attempts: 0, dueAt: NOW })),
      );
      assert.ok(queued.every(({ id }) => Number.isSafeInteger(id)));
    });

    test("without a message or without notifiers, nothing is queued", async (t) => {
      const store = await open(t);
      await store.save(alertChanges({ changed: [alertRecord()], notifiers: ["pager"] }));
      await store.save(messageFor([], "to nobody"));
      assert.deepEqual(await store.nextMessages(), []);
    });

    test("the next message of a notifier is its oldest until that is removed", async (t) => {
      const store = await open(t);
      await store.save(messageFor(["pager", "chat"], "one"));
      await store.save(messageFor(["pager"], "two"));
      assert.deepEqual(await nextOf(store), ["pager one", "chat one"]);
      const [first] = await store.nextMessages();
      await store.removeMessage(first?.id ?? 0);
      assert.deepEqual((await nextOf(store)).sort(), ["chat one", "pager two"]);
    });

    test("a delayed message counts a try, and those after it keep waiting", async (t) => {
      const store = await open(t);
      await store.save(messageFor(["pager"], "one"));
      await store.save(messageFor(["pager"], "two"));
      const [first] = await store.nextMessages();
      for (const delayMs of [5000, 15_000]) await store.delayMessage(first?.id ?? 0, NOW + delayMs);
      const [next, ...others] = await store.nextMessages();
      assert.deepEqual([next?.id, next?.attempts, next?.dueAt], [first?.id, 2, NOW + 15_000]);
      assert.deepEqual(others, []);
    });

    test("a silence is kept with every member, the one that ends first comes first", async (t) => {
      const store = await open(t);
      const labels = { route: "ñ", source: "it's" };
      const long = silence({ id: "s1", name: "AuthserveDiskLow", labels, reason: "the disk is new" });
      const short = silence({ id: "s2", until: NOW + 1000 });
      for (const one of [long, short]) await store.addSilence(one, NOW);
      assert.deepEqual((await store.read()).silences, [short, long]);
    });

    test("a silence may have U+0000 in its reason", async (t) => {
      const store = await open(t);
      await store.addSilence(silence({ labels: { source: "a\0" }, reason: "b\0" }), NOW);
      assert.match(String((await store.read()).silences[0]?.reason), /^b.$/);
    });

    test("a new silence removes those that have ended", async (t) => {
      const store = await open(t);
      await store.addSilence(silence({ id: "ended", until: NOW + 1000 }), NOW);
      await store.addSilence(silence({ id: "going on", until: NOW + 1001 }), NOW);
      await store.addSilence(silence({ id: "new" }), NOW + 1000);
      assert.deepEqual(await silencesOf(store), ["going on", "new"]);
    });

    test("silences are removed by name, or all of them, and counted", async (t) => {
      const store = await open(t);
      const names = ["AuthserveDiskLow", "AuthserveDiskLow", "AuthserveQueueOld", null] as const;
      for (const [n, name] of names.entries()) await store.addSilence(silence({ id: `s${n}`, name }), NOW);
      assert.equal(await store.removeSilences("AuthserveDeadLetters"), 0);
      assert.equal(await store.removeSilences("AuthserveDiskLow"), 2);
      assert.deepEqual(await silencesOf(store), ["s2", "s3"]);
      assert.equal(await store.removeSilences(null), 2);
      assert.deepEqual(await silencesOf(store), []);
    });
  });
}
