import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { type AlertName, type AlertRecord, alertId, type Condition, type Silence } from "../../src/alerts/alert.ts";
import { changesOf } from "../../src/alerts/changes.ts";
import type { SendOutcome } from "../../src/alerts/tellings.ts";

const NOW = 1_800_000_000_000;
const MINUTE = 60_000;
const DAY = 86_400_000;

const silent = (changes: Partial<Condition> = {}): Condition => ({
  name: "AuthserveSourceSilent",
  labels: { source: "shop" },
  summary: "silent",
  remedy: "check the sender",
  ...changes,
});

const silenceUntil = (until: number): Silence => ({ id: "s", name: null, labels: {}, reason: null, until });

interface Check {
  conditions?: Condition[];
  silences?: Silence[];
  unknown?: AlertName[];
  notifiers?: string[];
  outcomes?: SendOutcome[];
}

/** Alerts that are checked again and again. */
function openAlerts() {
  const known = new Map<string, AlertRecord>();
  return {
    /** Checks at a time. Returns the changes. */
    check(now: number, { conditions = [], silences = [], unknown = [], notifiers = [], outcomes = [] }: Check) {
      const findings = { conditions, unknown: new Set(unknown) };
      const changes = changesOf([...known.values()], { findings, silences, notifiers, outcomes, now });
      for (const alert of changes.changed) known.set(alert.id, alert);
      for (const id of changes.removed) known.delete(id);
      return changes;
    },
    alerts: () => [...known.values()],
  };
}

type Changes = ReturnType<ReturnType<typeof openAlerts>["check"]>;

/** The alerts of a message, each as its source and its state. */
const sentIn = ({ message }: Changes) =>
  message?.alerts.map(({ labels, resolvedAt }) => `${labels.source} ${resolvedAt === null ? "firing" : "resolved"}`) ??
  [];

const NOTHING = { changed: [], removed: [], message: null, notifiers: [] };

suite("an alert", () => {
  test("fires at once, and is announced once", () => {
    const { check, alerts } = openAlerts();
    const changes = check(NOW, { conditions: [silent()] });
    const [alert] = alerts();
    assert.deepEqual(alert, {
      ...silent(),
      id: alert?.id,
      since: NOW,
      firedAt: NOW,
      resolvedAt: null,
      isAnnounced: true,
      told: [],
    });
    assert.deepEqual(changes.message, { alerts: [{ ...alert, isAnnounced: false }], at: NOW });
    for (const afterMs of [5000, DAY]) assert.deepEqual(check(NOW + afterMs, { conditions: [silent()] }), NOTHING);
  });

  test("has what is measured now, without a message", () => {
    const { check, alerts } = openAlerts();
    check(NOW, { conditions: [silent({ summary: "silent for 2 h" })] });
    const { message } = check(NOW + 5000, { conditions: [silent({ summary: "silent for 3 h" })] });
    assert.deepEqual([alerts()[0]?.summary, message], ["silent for 3 h", null]);
  });

  test("is announced again when another route joins it, with what is measured then", () => {
    const { check } = openAlerts();
    const dead = (...routes: string[]) => [silent({ labels: {}, routes, summary: routes.join(" and ") })];
    assert.equal(check(NOW, { conditions: dead("a") }).message?.alerts.length, 1);
    assert.equal(check(NOW + 5000, { conditions: dead("a") }).message, null);
    assert.equal(check(NOW + 10_000, { conditions: dead("a", "b") }).message?.alerts[0]?.summary, "a and b");
    assert.equal(check(NOW + 15_000, { conditions: dead("b") }).message, null);
    assert.equal(check(NOW + 20_000, { conditions: dead("a", "b") }).message?.alerts.length, 1);
  });

  test("is resolved when nothing is wrong any more, which is announced once", () => {
    const { check, alerts } = openAlerts();
    check(NOW, { conditions: [silent()] });
    const changes = check(NOW + 5000, {});
    assert.deepEqual(sentIn(changes), ["shop resolved"]);
    assert.equal(changes.message?.at, NOW + 5000);
    const [alert] = alerts();
    assert.deepEqual([alert?.firedAt, alert?.resolvedAt], [NOW, NOW + 5000]);
    assert.deepEqual(check(NOW + 10_000, {}), NOTHING);
  });

  test("fires again after it was resolved, and is announced again", () => {
    const { check, alerts } = openAlerts();
    check(NOW, { conditions: [silent()] });
    check(NOW + 5000, {});
    const changes = check(NOW + 10_000, { conditions: [silent({ summary: "again" })] });
    assert.deepEqual(sentIn(changes), ["shop firing"]);
    const [alert, ...others] = alerts();
    assert.deepEqual(
      [alert?.since, alert?.firedAt, alert?.resolvedAt, alert?.summary],
      [NOW + 10_000, NOW + 10_000, null, "again"],
    );
    assert.deepEqual(others, []);
    assert.deepEqual(sentIn(check(NOW + 15_000, {})), ["shop resolved"]);
  });

  test("that changes together with others is announced in one message with them", () => {
    const { check } = openAlerts();
    const [a, b, c] = ["a", "b", "c"].map((name) => silent({ labels: { source: name } })) as [
      Condition,
      Condition,
      Condition,
    ];
    check(NOW, { conditions: [a, b] });
    assert.deepEqual(sentIn(check(NOW + 5000, { conditions: [b, c] })).sort(), ["a resolved", "c firing"]);
  });

  test("stays as it is while it is unknown whether it is wrong", () => {
    const { check, alerts } = openAlerts();
    const waiting = silent({ labels: { source: "waiting" }, forMs: MINUTE });
    check(NOW, { conditions: [silent(), waiting] });
    const before = alerts();
    assert.deepEqual(check(NOW + DAY, { unknown: ["AuthserveSourceSilent"] }), NOTHING);
    assert.deepEqual(alerts(), before);
    assert.deepEqual(sentIn(check(NOW + DAY, { unknown: ["AuthserveDiskLow"] })), ["shop resolved"]);
  });

  test("is forgotten 7 days after it was resolved", () => {
    const { check, alerts } = openAlerts();
    check(NOW, { conditions: [silent()] });
    check(NOW + 5000, {});
    assert.deepEqual(check(NOW + 5000 + 7 * DAY, { unknown: ["AuthserveSourceSilent"] }), NOTHING);
    const ids = alerts().map(({ id }) => id);
    assert.deepEqual(check(NOW + 5000 + 7 * DAY + 1, {}), { ...NOTHING, removed: ids });
  });
});

suite("an alert that waits", () => {
  const waiting = (summary = "early") => silent({ forMs: MINUTE, summary });

  test("fires after it has been wrong for so long, with what is measured then", () => {
    const { check, alerts } = openAlerts();
    const begun = check(NOW, { conditions: [waiting()] });
    assert.deepEqual([begun.changed.length, begun.message], [1, null]);
    assert.equal(alerts()[0]?.firedAt, null);
    assert.deepEqual(check(NOW + MINUTE - 1, { conditions: [waiting()] }), NOTHING);
    assert.deepEqual(sentIn(check(NOW + MINUTE, { conditions: [waiting("late")] })), ["shop firing"]);
    const [alert] = alerts();
    assert.deepEqual([alert?.since, alert?.firedAt, alert?.summary], [NOW, NOW + MINUTE, "late"]);
    assert.deepEqual(check(NOW + 2 * MINUTE, { conditions: [waiting("late")] }), NOTHING);
  });

  test("is forgotten without a word if it is resolved before", () => {
    const { check, alerts } = openAlerts();
    check(NOW, { conditions: [waiting()] });
    const changes = check(NOW + MINUTE - 1, {});
    assert.deepEqual([changes.message, changes.removed.length, alerts()], [null, 1, []]);
    check(NOW + MINUTE, { conditions: [waiting()] });
    assert.equal(alerts()[0]?.since, NOW + MINUTE, "it waits anew");
  });
});

suite("a silenced alert", () => {
  const silences = [silenceUntil(NOW + MINUTE)];

  test("fires without being announced until the silence ends", () => {
    const { check, alerts } = openAlerts();
    assert.equal(check(NOW, { conditions: [silent()], silences }).message, null);
    assert.deepEqual([alerts()[0]?.firedAt, alerts()[0]?.isAnnounced], [NOW, false]);
    assert.deepEqual(check(NOW + MINUTE - 1, { conditions: [silent()], silences }), NOTHING);
    const changes = check(NOW + MINUTE, { conditions: [silent()], silences });
    assert.deepEqual(sentIn(changes), ["shop firing"]);
    assert.deepEqual([alerts()[0]?.firedAt, alerts()[0]?.isAnnounced], [NOW, true]);
    assert.deepEqual(check(NOW + 2 * MINUTE, { conditions: [silent()] }), NOTHING);
  });

  test("is announced when the silence is removed before its end", () => {
    const { check } = openAlerts();
    check(NOW, { conditions: [silent()], silences });
    assert.deepEqual(sentIn(check(NOW + 5000, { conditions: [silent()] })), ["shop firing"]);
  });

  test("that is resolved before the silence ends is never announced", () => {
    const { check, alerts } = openAlerts();
    check(NOW, { conditions: [silent()], silences });
    assert.equal(check(NOW + 5000, { silences }).message, null);
    assert.equal(alerts()[0]?.resolvedAt, NOW + 5000);
    assert.deepEqual(check(NOW + 2 * MINUTE, {}), NOTHING);
  });

  test("whose firing was announced before is also announced when it is resolved", () => {
    const { check } = openAlerts();
    check(NOW, { conditions: [silent()] });
    assert.deepEqual(sentIn(check(NOW + 5000, { silences })), ["shop resolved"]);
  });
});

suite("who was told of an alert", () => {
  const notifiers = ["chat", "pager"];
  const conditions = [silent()];
  const outcomeOf = (
    { message }: Changes,
    notifier: string,
    state: SendOutcome["state"],
    error: string | null = null,
  ) => {
    assert.ok(message);
    return { notifier, message, state, at: message.at + 1, error };
  };
  /** E.g. `chat firing sent`. */
  const toldOf = ([alert]: AlertRecord[]) =>
    alert?.told?.map(({ notifier, of, state, error }) => [notifier, of, state, error].filter(Boolean).join(" ")).sort();

  test("is kept for each notifier, of its firing and of its resolution", () => {
    const { check, alerts } = openAlerts();
    const fired = check(NOW, { conditions, notifiers });
    assert.deepEqual(toldOf(alerts()), ["chat firing queued", "pager firing queued"]);
    const outcomes = [outcomeOf(fired, "chat", "sent"), outcomeOf(fired, "pager", "retried", "no answer")];
    check(NOW + 5000, { conditions, notifiers, outcomes });
    assert.deepEqual(toldOf(alerts()), ["chat firing sent", "pager firing retried no answer"]);
    const resolved = check(NOW + 10_000, { notifiers, outcomes: [outcomeOf(fired, "pager", "failed", "refused")] });
    check(NOW + 15_000, { notifiers, outcomes: [outcomeOf(resolved, "chat", "sent")] });
    assert.deepEqual(toldOf(alerts()), [
      "chat firing sent",
      "chat resolved sent",
      "pager firing failed refused",
      "pager resolved queued",
    ]);
  });

  test("is forgotten when it fires again, whatever comes of earlier messages", () => {
    const { check, alerts } = openAlerts();
    const fired = check(NOW, { conditions, notifiers });
    check(NOW + 5000, { notifiers });
    check(NOW + 10_000, { conditions, notifiers });
    check(NOW + 15_000, { conditions, notifiers, outcomes: [outcomeOf(fired, "chat", "sent")] });
    assert.deepEqual(toldOf(alerts()), ["chat firing queued", "pager firing queued"]);
  });

  test("is nobody without a notifier, and the first notifier is told of what still fires", () => {
    const { check, alerts } = openAlerts();
    check(NOW, { conditions });
    assert.deepEqual(toldOf(alerts()), []);
    assert.deepEqual(check(NOW + 5000, { conditions }), NOTHING);
    assert.deepEqual(sentIn(check(NOW + 10_000, { conditions, notifiers })), ["shop firing"]);
    assert.deepEqual(check(NOW + 15_000, { conditions, notifiers }).message, null);
  });

  test("is unknown of an alert that an earlier version announced, which is not announced again", () => {
    const earlier: AlertRecord = {
      ...silent(),
      id: alertId(silent()),
      since: NOW,
      firedAt: NOW,
      resolvedAt: null,
      isAnnounced: true,
    };
    const findings = { conditions, unknown: new Set<AlertName>() };
    const news = { findings, silences: [], notifiers, outcomes: [], now: NOW + 5000 };
    assert.deepEqual(changesOf([earlier], news), { ...NOTHING, notifiers });
  });
});
