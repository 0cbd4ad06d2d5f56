import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Command } from "commander";
import packageJson from "../package.json" with { type: "json" };
import { withoutHelp } from "../src/cli/command-tree.ts";
import { createProgram } from "../src/cli/main.ts";
import { SECRET_NAMES, SETTING_NAMES } from "../src/config/settings.ts";
import { PROBLEMS } from "../src/errors.ts";
import { LOG_EVENTS } from "../src/log.ts";
import { createMetrics } from "../src/metrics.ts";

const readme = readFileSync(join(import.meta.dirname, "../README.md"), "utf8");
const deployment = readFileSync(join(import.meta.dirname, "../docs/deploy.md"), "utf8");

function sectionOf(text: string, heading: string): string {
  const section = text.split(/^## /m).find((part) => part.startsWith(`${heading}\n`));
  assert.ok(section, `there is no section ${heading}`);
  return section;
}

/** The rows of the README's tables: first cell's code → the whole row. */
function rowsOf(heading: string): Map<string, string> {
  const rows = sectionOf(readme, heading).matchAll(/^\| `([^`]+)` \|.*$/gm);
  return new Map([...rows].map((match) => [match[1] as string, match[0]]));
}

const sorted = (values: Iterable<string>) => [...values].sort();

test("the README lists every command, and no other", () => {
  const commands: [string, Command][] = withoutHelp(createProgram().commands).flatMap((command) =>
    command.commands.length === 0
      ? [[command.name(), command] as [string, Command]]
      : withoutHelp(command.commands).map((child) => [`${command.name()} ${child.name()}`, child] as [string, Command]),
  );
  const rows = rowsOf("Commands");
  assert.deepEqual(sorted(rows.keys()), sorted(commands.map(([name]) => name)));
  for (const [name, command] of commands) {
    const documented = [...(rows.get(name) as string).matchAll(/`(--[a-z-]+)`/g)].map((match) => match[1] as string);
    assert.deepEqual(sorted(documented), sorted(command.options.map((option) => option.long as string)), name);
  }
});

test("the README lists every setting with its kind, and no other", () => {
  const rows = rowsOf("Settings");
  assert.deepEqual(sorted(rows.keys()), sorted(SETTING_NAMES));
  const secret = [...rows].filter(([, row]) => row.includes("*secret*")).map(([name]) => name);
  assert.deepEqual(sorted(secret), sorted(SECRET_NAMES));
});

test("the README lists every error code with its status, and no other", () => {
  const rows = [...rowsOf("Endpoints")].filter(([code]) => !/[ /]/.test(code));
  const documented = rows.map(([code, row]) => `${code} ${row.split("|")[2]?.trim()}`);
  assert.deepEqual(
    sorted(documented),
    sorted(Object.entries(PROBLEMS).map(([code, { status }]) => `${code} ${status}`)),
  );
});

test("docs/deploy.md lists every metric with its type, and no other", async () => {
  const rows = [...deployment.matchAll(/^\| `(authserve_[a-z_]+)` \| ([a-z]+) \|/gm)].map(
    (match) => `${match[1]} ${match[2]}`,
  );
  const backlog = async () => ({ queued: 0, failed: 0, unreadable: 0, oldestQueuedAt: null });
  const { text: exposed } = await createMetrics({
    backlog,
    waiting: () => 0,
    queueLimit: 1,
    logBytes: () => 0,
    now: Date.now,
  }).render();
  const metrics = [...exposed.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map((match) => `${match[1]} ${match[2]}`);
  assert.deepEqual(sorted(rows), sorted(metrics));
});

test("docs/deploy.md lists every log event, and no other", () => {
  const section = sectionOf(deployment, "Log");
  const firstCells = [...section.matchAll(/^\| (`[a-z_]+`(?:, `[a-z_]+`)*) \|/gm)].map((match) => match[1] as string);
  const documented = firstCells.flatMap((cell) => cell.split(", ").map((name) => name.slice(1, -1)));
  assert.deepEqual(sorted(documented.filter((name) => name !== "event")), sorted(LOG_EVENTS));
});

test("docs/dependencies.md gives a reason for every production package, and no other", () => {
  const text = readFileSync(join(import.meta.dirname, "../docs/dependencies.md"), "utf8");
  const documented = [...text.matchAll(/^\| `([^`]+)` \| \S/gm)].map((match) => match[1] as string);
  const { dependencies, optionalDependencies } = packageJson;
  assert.deepEqual(sorted(documented), sorted(Object.keys({ ...dependencies, ...optionalDependencies })));
});
