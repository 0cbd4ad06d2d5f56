import { basename } from "node:path";
import * as v from "valibot";
import type { Notifier } from "../../alerts/notifiers.ts";
import { NAME } from "../../lib/name.ts";
import { EmailSchema } from "./email.ts";
import { COMMAND, IN_FOLDER, key, NAME_EXPECTATION, numberOrText, textLike } from "./fields.ts";
import type { Reading } from "./reading.ts";
import { readSecretRef, SECRET, signingKeyIn } from "./secrets.ts";
import { becomes, list, map } from "./shape.ts";

/** The keys of a notifier of which it has exactly one. */
export const KINDS = ["webhook", "slack", "discord", "telegram", "email", "ntfy", "gotify", "exec"] as const;

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

/** Which notifiers the other keys belong to. */
const OWNERS = [
  ["secret", ["webhook"]],
  ["token", ["ntfy", "gotify", "telegram"]],
  ["botApi", ["telegram"]],
] as const;

/** What has a token in any case. */
const NEEDS_TOKEN = ["gotify", "telegram"] as const;

// https://core.telegram.org/bots/api#authorizing-your-bot
const BOT_TOKEN = /^[0-9]+:[A-Za-z0-9_-]+$/;
const BOT_API = "https://api.telegram.org";

const CHAT_EXPECTATION = "expected the id of a chat or @ and the name of a channel, e.g. -1001234567890";
const CHAT = textLike(/^(?:-?[1-9][0-9]{0,15}|@[A-Za-z0-9_]{4,32})$/, CHAT_EXPECTATION);

/** The Bot API takes the id of a chat as a number. */
const chatOf = (chat: string) => (chat.startsWith("@") ? chat : Number(chat));

const NotifierSchema = map(
  {
    name: key(textLike(NAME, NAME_EXPECTATION), "Names it in the log. Default: its kind and host."),
    webhook: target("Posts in the form of Alertmanager's webhook."),
    secret: key(
      v.pipe(SECRET, becomes(signingKeyIn)),
      "Signs a `webhook` as Standard Webhooks: `env:NAME` or `file:PATH`.",
    ),
    slack: target("Posts to an incoming webhook of Slack, Mattermost or another chat that takes its form."),
    discord: target("Posts to a webhook of Discord."),
    telegram: key(
      v.pipe(numberOrText(CHAT, CHAT_EXPECTATION), v.transform(chatOf)),
      "Writes to a chat of Telegram: its id, or `@` and the name of a channel.",
    ),
    botApi: target(`The server of the Bot API of \`telegram\`. Default: \`${BOT_API}\`.`),
    email: key(EmailSchema, "Sends a mail by SMTP."),
    ntfy: target("Publishes to a topic of ntfy."),
    gotify: target("Sends to an application of Gotify. The URL is that of the server."),
    token: key(
      SECRET,
      "The token of the bot of `telegram`, of the application of `gotify`, or for `ntfy`: `env:NAME` or `file:PATH`.",
    ),
    exec: key(v.pipe(COMMAND, IN_FOLDER), "Runs a program, which gets the form of `webhook` on standard input."),
  },
  `expected a map with one of ${KINDS.join(", ")}`,
  {
    check(entry, reading) {
      const [kind, ...others] = KINDS.filter((name) => name in entry);
      if (kind === undefined) return void reading.fault(`found no notifier, expected one of ${KINDS.join(", ")}`);
      for (const other of others) reading.at(other).fault(`found beside ${kind}, expected one notifier`, "key");
      for (const [name, owners] of OWNERS)
        if (name in entry && !owners.some((owner) => owner === kind))
          reading.at(name).fault(`found beside ${kind}, expected ${owners.join(" or ")}`, "key");
      if (NEEDS_TOKEN.some((name) => name === kind) && !("token" in entry))
        reading.at("token").fault("missing, expected env:NAME or file:PATH");
      if (kind === "telegram" && entry.token && !BOT_TOKEN.test(entry.token.value))
        reading
          .at("token")
          .fault(
            `found ${entry.token.name}, whose value does not have the form, expected the token of a bot, e.g. 123456:ABC-DEF`,
          );
    },
    read(entry, { context: { folder } }): Notifier | null {
      const { name, webhook, secret, slack, discord, telegram, botApi, email, ntfy, gotify, exec } = entry;
      const common = <Kind extends string>(kind: Kind, { hostname, href: url }: URL) => ({
        kind,
        name: name ?? `${kind}-${hostname}`,
        url,
      });
      const token = entry.token?.value ?? null;
      if (webhook) return { ...common("webhook", webhook), key: secret ?? null };
      if (slack) return common("slack", slack);
      if (discord) return common("discord", discord);
      if (ntfy) return { ...common("ntfy", ntfy), token };
      if (gotify) return { ...common("gotify", gotify), token: token ?? "" };
      if (telegram) return { ...common("telegram", botApi ?? new URL(BOT_API)), token: token ?? "", chat: telegram };
      if (email) return { kind: "email", name: name ?? `email-${email.host}`, ...email };
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
