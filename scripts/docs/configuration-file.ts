import { configJsonSchema } from "../../src/config/file/json-schema.ts";
import { KINDS } from "../../src/config/file/notifiers.ts";
import { code, codeBlock, page, table } from "./markdown.ts";

/** An example of the whole file. */
export const EXAMPLE = `sources:
  stripe: { preset: stripe, secrets: [env:STRIPE_SECRET, file:secrets/stripe_old] }
  github: { preset: github, path: /hooks/github, secrets: [env:GITHUB_SECRET], expectEvery: 24h }
  shop:
    verify:
      header: x-shop-signature
      prefix: "v1="
      signed: "{timestamp}.{body}"
      timestamp: { header: x-shop-time }
    secrets: [env:SHOP_SECRET]
    id: body:data.id
    type: header:x-shop-topic
    contentTypes: [application/json, application/x-www-form-urlencoded]
    bodyLimit: 2m
    allowedAddresses: [192.0.2.0/24]
routes:
  - name: billing
    source: stripe
    types: ["invoice.*", "!invoice.draft"]
    when: { data.object.livemode: true, data.object.currency: [eur, usd] }
    http: { url: "https://billing.example/hook", secret: env:BILLING_SECRET, timeout: 10s }
    retry: { attempts: 8, backoff: exponential, delay: 1s, maxDelay: 1h, jitter: 0.2, giveUpOn: ["400-499", "!408", "!429"] }
    orderBy: data.object.customer
    whenStuck: block
    concurrency: 10
    rate: 100/s
  - { name: script, source: github, types: [push], exec: { command: [/usr/local/bin/deploy, "--now"], timeout: 5m } }
  - { name: code, module: { file: ./handlers/code.mjs } }
  - { name: audit, log: {} }
alerts:
  notify:
    - { webhook: "https://hooks.example/alert", secret: env:ALERT_SECRET }
    - { exec: [/usr/local/bin/page] }
  failureRate: { above: 0.1, over: 5m, atLeast: 20 }
  queue: { olderThan: 5m, growingFor: 10m }
  deadLetters: { above: 0 }
access:
  - { host: app.example.com, path: /public/**, allow: everyone }
  - { host: app.example.com, path: /api/*/hook, methods: [POST], allow: everyone }
  - { host: "*.example.com", networks: [192.168.0.0/16], allow: everyone }
  - { host: dav.example.com, allow: [session, token] }
  - { host: old.example.com, allow: nobody }
clients:
  grafana: { redirects: ["https://grafana.example.com/login/generic_oauth"], secret: env:GRAFANA_SECRET, claims: { groups: [admin] } }`;

interface Member {
  description?: string;
  enum?: string[];
  properties?: Record<string, Member>;
  additionalProperties?: Member | false;
  items?: Member;
  anyOf?: Member[];
}

/** The page of the configuration file, from its JSON Schema. */
export function configurationFilePage(): string {
  const { sources, routes, alerts, access, clients } = (configJsonSchema() as Member).properties ?? {};
  const source = sources?.additionalProperties;
  const route = routes?.items;
  const client = clients?.additionalProperties;
  if (!source || !route || !alerts || !access || !client) throw new Error("the schema lacks a key");
  const { notify, ...rules } = alerts.properties ?? {};
  const { verify, catchUp, renew } = source.properties ?? {};
  const { timestamp } = verify?.properties ?? {};
  const { http, exec, module, retry } = route.properties ?? {};
  return page(
    "Configuration file",
    "The file is `authserve.yaml` in the working directory, or the one that `CONFIG_FILE` names. It is YAML 1.2.",
    "`authserve config check` checks it. An error is `FILE:LINE:COLUMN key: what was found, what is expected`.",
    codeBlock(EXAMPLE, "yaml"),
    "Each entry of `sources` is the name of a source: up to 64 small letters, digits and `-`. It has `preset` or `verify`.",
    "`routes` is a list. Each event goes to every route that matches it. Without `routes` there is one route, `default`: it posts each event to `FORWARD_URL`, or logs it if that is not set.",
    "## A source",
    membersOf(source),
    "## verify",
    membersOf(verify),
    "A `token` has `header` and `prefix` only, and `basic` has neither.",
    "## timestamp",
    membersOf(timestamp),
    "## catchUp",
    membersOf(catchUp),
    "See [what each provider needs](../catch-up.md#get-what-was-missed-in-a-downtime).",
    "## renew",
    membersOf(renew),
    "See [subscriptions](../catch-up.md#keep-subscriptions-alive).",
    "## A route",
    membersOf(route),
    "A route has exactly one of `http`, `to`, `exec`, `module` and `log`. `whenStuck` needs `orderBy`, and `giveUpOn` needs `http` or `to`.",
    "## http",
    membersOf(http),
    "## exec",
    membersOf(exec),
    "The program gets the payload on standard input. Its working directory is the folder of this file. Exit code 0 is success.",
    "## module",
    membersOf(module),
    "The default export is `async (event, { signal, idempotencyKey, log }) => {}`. A changed module is loaded while the server runs.",
    "## retry",
    membersOf(retry),
    "With `delays` there is one attempt more than there are delays. A delay is at most `24h`.",
    "## alerts",
    membersOf(alerts),
    "Without `alerts` all rules have their defaults, and nothing is sent. See [monitoring](../monitoring.md).",
    "## notify",
    membersOf(notify?.items),
    `A notifier has exactly one of ${KINDS.map(code).join(", ")}.`,
    "## email",
    membersOf(notify?.items?.properties?.email),
    ...Object.entries(rules).flatMap(([name, { anyOf = [] }]) => [
      `## ${name}`,
      membersOf(anyOf.find(({ properties }) => properties !== undefined)),
    ]),
    "## access",
    membersOf(access.items),
    "`access` is a list. The first entry that matches decides who passes forward-auth. Without a match a session or a token with the scope `verify` is needed. See [tokens and access](../tokens-and-access.md).",
    "## A client",
    membersOf(client),
    "Each entry of `clients` is an app, whose name is its `client_id`. See [apps that log in](../openid-connect.md).",
    "## logout",
    membersOf(client.properties?.logout),
    "## claims",
    membersOf(client.properties?.claims),
  );
}

function membersOf(schema: Member | undefined): string {
  const rows = Object.entries(schema?.properties ?? {}).map(([name, member]) => {
    const { description = "" } = member;
    return [code(name), `${description}${choicesOf(name, member)}`];
  });
  return table(["key", "meaning"], rows);
}

/** The words that a key may have. Presets are too many. */
function choicesOf(name: string, { enum: words }: Member): string {
  return words && name !== "preset" ? ` One of ${words.map(code).join(", ")}.` : "";
}
