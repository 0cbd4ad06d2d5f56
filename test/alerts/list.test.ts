import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { listAlerts } from "../../src/alerts/list.ts";
import { alertRecord } from "../contract/alert-store.ts";

const NOW = 1_800_000_000_000;

suite("the list of alerts", () => {
  test("has those that fire, then those that wait, then those that are resolved, the newest first", () => {
    const alerts = [
      alertRecord({ id: "over", since: NOW, resolvedAt: NOW + 9 }),
      alertRecord({ id: "old", since: NOW - 5 }),
      alertRecord({ id: "waiting", since: NOW + 8, firedAt: null }),
      alertRecord({ id: "new", since: NOW + 5 }),
    ];
    assert.deepEqual(
      listAlerts({ alerts, silences: [] }, NOW).map(({ id, state }) => [id, state]),
      [
        ["new", "firing"],
        ["old", "firing"],
        ["waiting", "pending"],
        ["over", "resolved"],
      ],
    );
  });

  test("has every member, with times in ISO 8601", () => {
    const telling = { notifier: "chat", of: "firing", state: "retried", error: "no answer" } as const;
    const told = [{ ...telling, at: NOW + 1 }];
    const alert = alertRecord({ since: NOW, firedAt: NOW + 1, resolvedAt: NOW + 2, told });
    const silence = { id: "s", name: null, labels: { source: "stripe" }, reason: null, until: NOW + 3 };
    assert.deepEqual(listAlerts({ alerts: [alert], silences: [silence] }, NOW), [
      {
        id: "a1",
        name: "AuthserveSourceSilent",
        title: "A sender is silent",
        state: "resolved",
        severity: "warning",
        labels: { source: "stripe" },
        summary: "the source stripe has received nothing for 2 h",
        remedy: "check the webhook at the sender",
        view: "#/sources",
        since: "2027-01-15T08:00:00.000Z",
        startsAt: "2027-01-15T08:00:00.001Z",
        endsAt: "2027-01-15T08:00:00.002Z",
        silencedUntil: "2027-01-15T08:00:00.003Z",
        told: [{ ...telling, at: "2027-01-15T08:00:00.001Z" }],
      },
    ]);
  });

  test("has null for what has not happened", () => {
    const [listed] = listAlerts({ alerts: [alertRecord({ firedAt: null })], silences: [] }, NOW);
    assert.deepEqual([listed?.startsAt, listed?.endsAt, listed?.silencedUntil, listed?.told], [null, null, null, null]);
  });
});
