import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parse } from "yaml";
import { ALERTS } from "../../src/alerts/alert.ts";
import { DEFAULT_RULES } from "../../src/alerts/rules.ts";

const RULES = join(import.meta.dirname, "../../deploy/prometheus-rules.yml");
const PAGE = join(import.meta.dirname, "../../docs/monitoring.md");
const UNIT_TESTS = join(import.meta.dirname, "../backends/deploy/prometheus-rules");

interface Rule {
  alert?: string;
  expr: string;
  for?: string;
  labels: { severity: string };
  annotations: Record<string, string>;
}

const { groups } = parse(readFileSync(RULES, "utf8")) as { groups: { rules: Rule[] }[] };
const alerts = new Map(
  groups.flatMap(({ rules }) => rules).flatMap((rule) => (rule.alert ? [[rule.alert, rule]] : [])),
);
const severities = Object.fromEntries([...alerts].map(([name, { labels }]) => [name, labels.severity]));
const BUILT_IN = Object.fromEntries(Object.entries(ALERTS).map(([name, { severity }]) => [name, severity]));

test("each alert has unit tests in which it fires, and in which it does not", () => {
  const files = readdirSync(UNIT_TESTS).map((file) =>
    parse(readFileSync(join(UNIT_TESTS, file), "utf8"), { merge: true }),
  );
  const checks: { alertname: string; exp_alerts: object[] }[] = files.flatMap(({ tests }) =>
    tests.flatMap((unit: { alert_rule_test: object[] }) => unit.alert_rule_test),
  );
  const names = (fires: boolean) =>
    new Set(checks.filter(({ exp_alerts }) => exp_alerts.length > 0 === fires).map(({ alertname }) => alertname));
  const all = [...alerts.keys()].sort();
  assert.deepEqual([...names(true)].sort(), all);
  assert.deepEqual([...names(false)].sort(), all);
});

test("the built-in alerts are there with the same severity, and two that only Prometheus can have", () => {
  const { AuthserveDown, AuthserveConfigurationRejected, ...others } = severities;
  assert.deepEqual([AuthserveDown, AuthserveConfigurationRejected], ["critical", "warning"]);
  assert.deepEqual(others, BUILT_IN);
});

test("the thresholds are the defaults of the built-in alerts", () => {
  const {
    failureRate,
    queue,
    deadLetters,
    disk,
    oldSecret,
    certificate,
    notReady,
    refused,
    writes,
    unreadable,
    outage,
  } = DEFAULT_RULES;
  for (const [name, after] of [
    ["AuthserveNotReady", notReady?.afterMs],
    ["AuthserveStoreRefusesWrites", writes?.afterMs],
  ] as const)
    assert.equal(alerts.get(name)?.for, `${(after ?? 0) / 1000}s`);
  assert.deepEqual([disk?.below, oldSecret?.afterMs], [undefined, 86_400_000]);
  assert.equal(alerts.get("AuthserveOldSecret")?.for, "1d");
  for (const [name, ...parts] of [
    ["AuthserveFailureRate", `> ${failureRate?.above}\n`, `>= ${failureRate?.atLeast}\n`, minutes(failureRate?.overMs)],
    ["AuthserveQueueOld", `> ${(queue?.olderThanMs ?? 0) / 1000}`],
    ["AuthserveQueueGrowing", `>= ${queue?.atLeast}\n`, minutes((queue?.growingForMs ?? 0) / 5)],
    ["AuthserveDeadLetters", `> ${deadLetters?.above}`],
    ["AuthserveDiskLow", "< 2 * authserve_disk_min_free_bytes"],
    ["AuthserveDeliveriesRefused", `> ${refused?.above}\n`, "[1m]"],
    ["AuthserveUnreadableEvents", `> ${unreadable?.above}`],
    ["AuthserveOutage", `> ${(outage?.longerThanMs ?? 0) / 1000}`],
    ["AuthserveCertificateExpiring", `< ${(certificate?.withinMs ?? 0) / 86_400_000} * 86400`],
  ] as const) {
    const { expr = "" } = alerts.get(name) ?? {};
    for (const part of parts) assert.ok(expr.includes(part), `${name} lacks "${part}": ${expr}`);
  }
});

const minutes = (ms = 0) => `[${ms / 60_000}m]`;

test("each alert says what was found, what it means and which command to run", () => {
  for (const [name, { annotations }] of alerts) {
    assert.deepEqual(Object.keys(annotations), ["summary", "description", "runbook"], name);
    assert.match(annotations.runbook ?? "", /`authserve [a-z]/, name);
  }
});

test("docs/monitoring.md lists the built-in alerts, and those of Prometheus only, with their severities", () => {
  const rows = readFileSync(PAGE, "utf8").matchAll(/^\| `(Authserve\w+)` \| (\w+) \| .* \| (.*) \|$/gm);
  const listed = Array.from(rows, ([, name = "", severity, setting]) => ({ name, severity, setting }));
  const builtIn = listed.filter(({ setting }) => setting !== "of Prometheus only");
  const named = (rows: typeof listed) => Object.fromEntries(rows.map(({ name, severity }) => [name, severity]));
  assert.deepEqual(named(builtIn), BUILT_IN);
  assert.deepEqual(named(listed), severities);
});
