import { basename, resolve } from "node:path";
import type * as v from "valibot";
import type { Notifier } from "../../alerts/notifiers.ts";
import { type AlertRules, DEFAULT_RULES } from "../../alerts/rules.ts";
import type { AlertConfig } from "../../alerts/watch.ts";
import { defined } from "../../lib/defined.ts";
import { AlertsSchema, NotifierSchema, RULES } from "./alerts-schema.ts";
import { isMap, shown, unknownKeys } from "./faults.ts";
import { type Known, knownKeys } from "./known-keys.ts";
import type { Reading } from "./reading.ts";
import { readSecretRef } from "./secret-refs.ts";
import { readSigningKey } from "./signing-key-ref.ts";
import type { Path } from "./yaml-document.ts";

export const DEFAULT_ALERTS: AlertConfig = { rules: DEFAULT_RULES, notifiers: [] };

const PATH = ["alerts"];

/** Reads `alerts`. What is missing or wrong has its default. */
export function readAlerts(value: unknown, reading: Reading): AlertConfig {
  if (value === undefined) return DEFAULT_ALERTS;
  if (!isMap(value)) {
    const message = `found ${shown(value, PATH)}, expected a map such as { deadLetters: { above: 0 } }`;
    reading.faults.push({ path: PATH, message });
    return DEFAULT_ALERTS;
  }
  reading.faults.push(...unknownKeys({ ...value, notify: undefined }, AlertsSchema, PATH));
  return { rules: readRules(value, reading), notifiers: readNotifiers(value.notify, reading) };
}

function readRules(alerts: Record<string, unknown>, reading: Reading): AlertRules {
  const rule = <const Name extends keyof typeof RULES>(name: Name) => readRule(alerts[name], name, reading);
  const { failureRate, queue, disk, deadLetters, oldSecret, certificate, notReady, refused, writes, unreadable } =
    DEFAULT_RULES;
  const rate = rule("failureRate");
  const line = rule("queue");
  const dead = rule("deadLetters");
  const space = rule("disk");
  const secret = rule("oldSecret");
  const ending = rule("certificate");
  const unready = rule("notReady");
  const unwritable = rule("writes");
  return {
    failureRate: merged(failureRate, rate && { above: rate.above, overMs: rate.over, atLeast: rate.atLeast }),
    queue: merged(queue, line && { olderThanMs: line.olderThan, growingForMs: line.growingFor, atLeast: line.atLeast }),
    deadLetters: merged(deadLetters, dead),
    disk: merged(disk, space),
    oldSecret: merged(oldSecret, secret && { afterMs: secret.after }),
    certificate: merged(certificate, ending && { withinMs: ending.within }),
    notReady: merged(notReady, unready && { afterMs: unready.after }),
    refused: merged(refused, rule("refused")),
    writes: merged(writes, unwritable && { afterMs: unwritable.after }),
    unreadable: merged(unreadable, rule("unreadable")),
  };
}

/** A rule with its defaults; null if it is off. */
function merged<Rule extends object>(
  standard: Rule | null,
  given: { [Name in keyof Rule]?: Rule[Name] | undefined } | null,
): Rule | null {
  return given === null || standard === null ? null : { ...standard, ...defined(given) };
}

/** The keys of a rule; null if it is off. */
function readRule<const Name extends keyof typeof RULES>(
  value: unknown,
  name: Name,
  { faults }: Reading,
): Known<v.InferOutput<(typeof RULES)[Name]>> | null {
  const path = [...PATH, name];
  if (value === "off") return null;
  if (value === undefined) return {} as Known<v.InferOutput<(typeof RULES)[Name]>>;
  if (!isMap(value)) {
    faults.push({ path, message: `found ${shown(value, path)}, expected a map or off` });
    return null;
  }
  faults.push(...unknownKeys(value, RULES[name], path));
  return knownKeys(value, RULES[name], path, faults) as Known<v.InferOutput<(typeof RULES)[Name]>>;
}

function readNotifiers(value: unknown, reading: Reading): Notifier[] {
  const path = [...PATH, "notify"];
  if (value === undefined) return [];
  if (!Array.isArray(value)) {
    reading.faults.push({ path, message: `found ${shown(value, path)}, expected a list` });
    return [];
  }
  const notifiers = value.map((entry, index) => readNotifier(entry, [...path, index], reading));
  return named(notifiers.filter((notifier) => notifier !== null));
}

type KnownNotifier = Known<v.InferOutput<typeof NotifierSchema>>;

const KINDS = ["webhook", "slack", "ntfy", "exec"] as const;

function readNotifier(entry: unknown, base: Path, reading: Reading): Notifier | null {
  const { faults } = reading;
  if (!isMap(entry)) {
    faults.push({ path: base, message: `found ${shown(entry, base)}, expected a map with one of ${KINDS.join(", ")}` });
    return null;
  }
  faults.push(...unknownKeys(entry, NotifierSchema, base));
  const known = knownKeys(entry, NotifierSchema, base, faults);
  const [kind, ...others] = KINDS.filter((name) => name in entry);
  if (kind === undefined) {
    faults.push({ path: base, message: `found no notifier, expected one of ${KINDS.join(", ")}` });
    return null;
  }
  for (const other of others) {
    faults.push({ path: [...base, other], at: "key", message: `found beside ${kind}, expected one notifier` });
  }
  for (const [key, owner] of [
    ["secret", "webhook"],
    ["token", "ntfy"],
  ] as const) {
    if (key in entry && kind !== owner)
      faults.push({ path: [...base, key], at: "key", message: `found beside ${kind}, expected ${owner}` });
  }
  return kind === "exec" ? execOf(known, reading) : urlNotifier(kind, known, base, reading);
}

function execOf({ name, exec }: KnownNotifier, { context: { folder } }: Reading): Notifier | null {
  const [program, ...words] = exec ?? [];
  if (program === undefined) return null;
  const command = [program.includes("/") ? resolve(folder, program) : program, ...words];
  return { kind: "exec", name: name ?? `exec-${basename(program)}`, command, folder };
}

function urlNotifier(
  kind: "webhook" | "slack" | "ntfy",
  known: KnownNotifier,
  base: Path,
  reading: Reading,
): Notifier | null {
  const given = known[kind];
  const url = given === undefined ? null : readUrl(given, [...base, kind], reading);
  if (url === null) return null;
  const name = known.name ?? `${kind}-${new URL(url).hostname}`;
  const { secret, token } = known;
  switch (kind) {
    case "webhook":
      return {
        kind,
        name,
        url,
        key: secret === undefined ? null : readSigningKey(secret, [...base, "secret"], reading),
      };
    case "slack":
      return { kind, name, url };
    case "ntfy":
      return { kind, name, url, token: token === undefined ? null : readValue(token, [...base, "token"], reading) };
  }
}

/** Reads a URL that is written in the file, or that a reference has. */
function readUrl(given: string, path: Path, reading: Reading): string | null {
  const url = /^https?:/.test(given) ? given : readValue(given, path, reading);
  if (url === null) return null;
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return new URL(url).href;
  reading.faults.push({ path, message: "found text that is no URL, expected an http or https URL" });
  return null;
}

function readValue(reference: string, path: Path, { context, faults }: Reading): string | null {
  const read = readSecretRef(reference, context);
  if (!("fault" in read)) return read.secret.value;
  faults.push({ path, message: read.fault });
  return null;
}

/** Numbers the notifiers whose names are the same. */
function named(notifiers: readonly Notifier[]): Notifier[] {
  const taken = new Set<string>();
  const configured = new Set(notifiers.map(({ name }) => name));
  return notifiers.map((notifier) => {
    let { name } = notifier;
    for (let n = 2; taken.has(name) || (n > 2 && configured.has(name)); n++) name = `${notifier.name}-${n}`;
    taken.add(name);
    return { ...notifier, name };
  });
}
