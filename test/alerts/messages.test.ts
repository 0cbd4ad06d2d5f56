import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { alertmanagerForm, isFiring, lineOf, messageId, titleOf } from "../../src/alerts/messages.ts";
import { alertRecord } from "../contract/alert-store.ts";

const NOW = 1_800_000_000_000;
const SENDER = { instance: "web-1", url: "https://auth.example", page: "https://auth.example/admin/" };

const firing = alertRecord();
const over = alertRecord({
  id: "b2",
  name: "AuthserveDiskLow",
  labels: {},
  summary: "1 GiB are free",
  remedy: "make space",
  resolvedAt: NOW + 60_000,
});
const message = (...alerts: (typeof firing)[]) => ({ alerts, at: NOW });

suite("Alertmanager's form", () => {
  test("has every member of version 4", () => {
    const labels = { alertname: "AuthserveSourceSilent", severity: "warning", instance: "web-1", source: "stripe" };
    const annotations = { title: "A sender is silent", summary: firing.summary, remedy: firing.remedy };
    assert.deepEqual(alertmanagerForm(message(firing), SENDER, "pager"), {
      version: "4",
      groupKey: '{}:{instance="web-1"}',
      truncatedAlerts: 0,
      status: "firing",
      receiver: "pager",
      groupLabels: { instance: "web-1" },
      commonLabels: labels,
      commonAnnotations: annotations,
      externalURL: "https://auth.example",
      alerts: [
        {
          status: "firing",
          labels,
          annotations,
          startsAt: "2027-01-15T08:00:00.000Z",
          endsAt: "0001-01-01T00:00:00Z",
          generatorURL: "https://auth.example/admin/#/sources",
          fingerprint: "a1",
        },
      ],
    });
  });

  test("is firing while one of its alerts is, and has what all of them share", () => {
    const form = alertmanagerForm(message(firing, over), SENDER, "pager");
    assert.equal(form.status, "firing");
    assert.deepEqual(form.commonLabels, { instance: "web-1" });
    assert.deepEqual(form.commonAnnotations, {});
    assert.deepEqual(
      form.alerts.map(({ status }) => status),
      ["firing", "resolved"],
    );
  });

  test("is resolved, with its end, when all of its alerts are resolved", () => {
    const form = alertmanagerForm(message(over), SENDER, "pager");
    assert.equal(form.status, "resolved");
    assert.deepEqual(
      [form.alerts[0]?.labels.severity, form.alerts[0]?.endsAt],
      ["critical", "2027-01-15T08:01:00.000Z"],
    );
  });

  test("has the beginning of the firing, not of the wait before it", () => {
    const waited = alertRecord({ since: NOW - 86_400_000, firedAt: NOW });
    assert.equal(alertmanagerForm(message(waited), SENDER, "").alerts[0]?.startsAt, "2027-01-15T08:00:00.000Z");
  });
});

suite("a message for people", () => {
  test("has a title with the numbers of alerts", () => {
    assert.equal(titleOf(message(firing, firing), SENDER), "authserve web-1: 2 firing");
    assert.equal(titleOf(message(over), SENDER), "authserve web-1: 1 resolved");
    assert.equal(titleOf(message(firing, over), SENDER), "authserve web-1: 1 firing, 1 resolved");
    assert.deepEqual([message(firing, over), message(over)].map(isFiring), [true, false]);
  });

  test("has a line for each alert", () => {
    assert.deepEqual([firing, over].map(lineOf), [
      "warning: A sender is silent. Now: the source stripe has received nothing for 2 h. To do: check the webhook at the sender",
      "resolved: Little disk space. It was: 1 GiB are free",
    ]);
  });
});

test("the id of a message is the same at every try, and another one for another message", () => {
  const id = messageId(message(firing, over));
  assert.match(id, /^alert_1800000000000_[0-9a-f]{12}$/);
  assert.equal(messageId(message(firing, over)), id);
  const others = [message(firing), { ...message(firing, over), at: NOW + 1 }].map(messageId);
  assert.equal(new Set([id, ...others]).size, 3);
});
