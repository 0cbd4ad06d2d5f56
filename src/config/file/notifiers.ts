import { basename } from "node:path";
import * as v from "valibot";
import type { Notifier } from "../../alerts/notifiers.ts";
import { NAME } from "../../lib/name.ts";
import { COMMAND, commandIn, key, NAME_EXPECTATION, TEXT, textLike } from "./fields.ts";
import type { Reading } from "./reading.ts";
import { readSecretRef, readSigningKey } from "./secrets.ts";
import type { Known } from "./shape.ts";

const KINDS = ["webhook", "slack", "ntfy", "exec"] as const;

const URL_EXPECTATION = "expected an http or https URL, or env:NAME or file:PATH that has one";

const target = (meaning: string) =>
  key(
    textLike(/^(?:https?:\/\/|env:|file:)./, URL_EXPECTATION),
    `${meaning} A URL, or where a secret one is: \`env:NAME\` or \`file:PATH\`.`,
  );

/** A notifier as it is written in the file. */
export const NotifierSchema = v.strictObject(
  {
    name: key(textLike(NAME, NAME_EXPECTATION), "Names it in the log. Default: its kind and host."),
    webhook: target("Posts in the form of Alertmanager's webhook."),
    secret: key(TEXT, "Signs a `webhook` as Standard Webhooks: `env:NAME` or `file:PATH`."),
    slack: target(
      "Posts to an incoming webhook of Slack, Mattermost, Discord (`/slack`) or another chat that takes its form.",
    ),
    ntfy: target("Publishes to a topic of ntfy."),
    token: key(TEXT, "The access token of `ntfy`: `env:NAME` or `file:PATH`."),
    exec: key(COMMAND, "Runs a program, which gets the form of `webhook` on standard input."),
  },
  `expected a map with one of ${KINDS.join(", ")}`,
);

export type NotifierEntry = Known<v.InferOutput<typeof NotifierSchema>>;

/** Reads the list of notifiers. What is no map, which has its fault, is undefined. */
export function readNotifiers(entries: readonly (NotifierEntry | undefined)[], reading: Reading): Notifier[] {
  const notifiers = entries.map((entry, index) => entry && readNotifier(entry, reading.at(index)));
  return named(notifiers.filter((notifier) => notifier !== null && notifier !== undefined));
}

/** Which notifier the other keys belong to. */
const OWNERS = [
  ["secret", "webhook"],
  ["token", "ntfy"],
] as const;

function readNotifier(entry: NotifierEntry, reading: Reading): Notifier | null {
  const [kind, ...others] = KINDS.filter((name) => name in entry);
  if (kind === undefined) return reading.fault(`found no notifier, expected one of ${KINDS.join(", ")}`);
  for (const other of others) reading.at(other).fault(`found beside ${kind}, expected one notifier`, "key");
  for (const [name, owner] of OWNERS)
    if (name in entry && kind !== owner) reading.at(name).fault(`found beside ${kind}, expected ${owner}`, "key");
  return kind === "exec" ? execOf(entry, reading) : urlNotifier(kind, entry, reading);
}

function execOf({ name, exec }: NotifierEntry, { context: { folder } }: Reading): Notifier | null {
  if (exec === undefined) return null;
  return { kind: "exec", name: name ?? `exec-${basename(exec[0] ?? "")}`, command: commandIn(folder, exec), folder };
}

function urlNotifier(kind: "webhook" | "slack" | "ntfy", entry: NotifierEntry, reading: Reading): Notifier | null {
  const { [kind]: given, secret, token } = entry;
  const url = given === undefined ? null : readUrl(given, reading.at(kind));
  if (url === null) return null;
  const common = { name: entry.name ?? `${kind}-${new URL(url).hostname}`, url };
  switch (kind) {
    case "webhook":
      return { kind, ...common, key: secret === undefined ? null : readSigningKey(secret, reading.at("secret")) };
    case "slack":
      return { kind, ...common };
    case "ntfy":
      return { kind, ...common, token: token === undefined ? null : readValue(token, reading.at("token")) };
  }
}

/** Reads a URL that is written in the file, or that a reference has. */
function readUrl(given: string, reading: Reading): string | null {
  const url = /^https?:/.test(given) ? given : readValue(given, reading);
  if (url === null) return null;
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return new URL(url).href;
  return reading.fault("found text that is no URL, expected an http or https URL");
}

const readValue = (reference: string, reading: Reading) => readSecretRef(reference, reading)?.value ?? null;

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
