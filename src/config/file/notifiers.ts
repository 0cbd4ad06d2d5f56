import { basename } from "node:path";
import * as v from "valibot";
import type { Notifier } from "../../alerts/notifiers.ts";
import { NAME } from "../../lib/name.ts";
import { COMMAND, IN_FOLDER, key, NAME_EXPECTATION, textLike } from "./fields.ts";
import type { Reading } from "./reading.ts";
import { readSecretRef, SECRET, signingKeyIn } from "./secrets.ts";
import { becomes, list, map } from "./shape.ts";

const KINDS = ["webhook", "slack", "ntfy", "exec"] as const;

const URL_EXPECTATION = "expected an http or https URL, or env:NAME or file:PATH that has one";

const target = (meaning: string) =>
  key(
    v.pipe(textLike(/^(?:https?:\/\/|env:|file:)./, URL_EXPECTATION), becomes(readUrl)),
    `${meaning} A URL, or where a secret one is: \`env:NAME\` or \`file:PATH\`.`,
  );

/** Reads a URL that is written in the file, or that a reference has. */
function readUrl(given: string, reading: Reading): URL | null {
  const text = /^https?:/.test(given) ? given : readSecretRef(given, reading)?.value;
  if (text === undefined) return null;
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol)
    ? url
    : reading.fault("found text that is no URL, expected an http or https URL");
}

/** Which notifier the other keys belong to. */
const OWNERS = [
  ["secret", "webhook"],
  ["token", "ntfy"],
] as const;

const NotifierSchema = map(
  {
    name: key(textLike(NAME, NAME_EXPECTATION), "Names it in the log. Default: its kind and host."),
    webhook: target("Posts in the form of Alertmanager's webhook."),
    secret: key(
      v.pipe(SECRET, becomes(signingKeyIn)),
      "Signs a `webhook` as Standard Webhooks: `env:NAME` or `file:PATH`.",
    ),
    slack: target(
      "Posts to an incoming webhook of Slack, Mattermost, Discord (`/slack`) or another chat that takes its form.",
    ),
    ntfy: target("Publishes to a topic of ntfy."),
    token: key(SECRET, "The access token of `ntfy`: `env:NAME` or `file:PATH`."),
    exec: key(v.pipe(COMMAND, IN_FOLDER), "Runs a program, which gets the form of `webhook` on standard input."),
  },
  `expected a map with one of ${KINDS.join(", ")}`,
  {
    check(entry, reading) {
      const [kind, ...others] = KINDS.filter((name) => name in entry);
      if (kind === undefined) reading.fault(`found no notifier, expected one of ${KINDS.join(", ")}`);
      for (const other of others) reading.at(other).fault(`found beside ${kind}, expected one notifier`, "key");
      for (const [name, owner] of kind === undefined ? [] : OWNERS)
        if (name in entry && kind !== owner) reading.at(name).fault(`found beside ${kind}, expected ${owner}`, "key");
    },
    read({ name, webhook, secret, slack, ntfy, token, exec }, { context: { folder } }): Notifier | null {
      const common = (kind: string, url: URL) => ({ name: name ?? `${kind}-${url.hostname}`, url: url.href });
      if (webhook) return { kind: "webhook", ...common("webhook", webhook), key: secret ?? null };
      if (slack) return { kind: "slack", ...common("slack", slack) };
      if (ntfy) return { kind: "ntfy", ...common("ntfy", ntfy), token: token?.value ?? null };
      return exec ? { kind: "exec", name: name ?? `exec-${basename(exec[0])}`, command: exec, folder } : null;
    },
  },
);

/** A list of notifiers. Those whose names are the same are numbered. */
export const NotifiersSchema = v.pipe(list(NotifierSchema, "expected a list"), v.transform(named));

function named(notifiers: Notifier[]): Notifier[] {
  const taken = new Set<string>();
  const configured = new Set(notifiers.map(({ name }) => name));
  return notifiers.map((notifier) => {
    let { name } = notifier;
    for (let n = 2; taken.has(name) || (n > 2 && configured.has(name)); n++) name = `${notifier.name}-${n}`;
    taken.add(name);
    return { ...notifier, name };
  });
}
