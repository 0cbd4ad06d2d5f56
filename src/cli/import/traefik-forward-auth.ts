import { type Draft, note, set } from "./draft.ts";
import { LOGGING, NO_PROVIDER, needProxy, ONE_USER, OTHER_FILE, setEmails, setLifetime } from "./login.ts";
import { createOptions, type GivenOptions, itemsOf, readOptions } from "./options.ts";

const REST: readonly (readonly [RegExp, string])[] = [
  [/^(?:providers|default_provider|client|prompt|domain|match)/, NO_PROVIDER],
  [/^log_/, LOGGING],
  [/^logout_redirect/, "link to /logout?rd=URL"],
  [/^url_path/, "authserve has /login and /logout at PUBLIC_URL"],
  [/^(?:config|env_file)/, OTHER_FILE],
  [/^(?:secret|cookie_(?:secret|name|secure)|csrf|insecure_cookie|tz$|p[ug]id)/, ""],
];

/** Reads the INI file, environment or flags of thomseddon/traefik-forward-auth, also in a compose file. */
export function importTraefikForwardAuth(text: string, draft: Draft): void {
  const found = readOptions(text, /traefik-forward-auth/);
  const options = createOptions(draft, found.options, nameOf);
  const host = options.take("auth_host");
  if (host) set(draft, "PUBLIC_URL", `https://${host.values[0]}`, host.what);
  const domains = options.take("cookie_domain", "cookie_domains");
  const [domain, ...others] = itemsOf(domains);
  if (domain !== undefined) set(draft, "COOKIE_DOMAIN", domain, domains?.what ?? "");
  for (const other of others) note(draft, `${domains?.what}: ${other}`, "COOKIE_DOMAIN is one domain");
  const emails = options.take("whitelist");
  setEmails(draft, itemsOf(emails), emails?.what ?? "");
  const lifetime = options.take("lifetime");
  if (lifetime) setLifetime(draft, lifetime.what, Number(lifetime.values[0]));
  const port = options.take("port");
  if (port) set(draft, "PORT", port.values[0] ?? "", port.what);
  const isKnown = found.options.every(({ name, values }) => values.length > 0 || !name.startsWith("rule."));
  addRules(draft, options, isKnown);
  options.noteRest(REST);
  if (draft.env.size + draft.access.length > 0) set(draft, "PROXY", "traefik", "");
  needProxy(draft);
}

/** The names of rules keep what they have. */
const nameOf = (name: string) => (name.startsWith("rule.") ? name : name.toLowerCase().replace(/[.-]/g, "_"));

/** Adds entries for the rules. `isKnown`: whether the file has the values of all. */
function addRules(draft: Draft, options: GivenOptions, isKnown: boolean): void {
  const isOpen = options.take("default_action")?.values[0] === "allow";
  const opened: object[] = [];
  let isWhole = isKnown;
  for (const [name, keys] of rulesIn(options)) {
    const isAllow = keys.get("action") === "allow";
    const entries = entriesOf(keys.get("rule") ?? "", isAllow);
    if (entries === null) {
      note(draft, `rule ${name}`, "write entries of access for it");
      isWhole &&= isAllow;
    }
    if (isAllow) opened.push(...(entries ?? []).map((entry) => ({ ...entry, allow: "everyone" })));
    else draft.access.push(...(entries ?? []).map((entry) => ({ ...entry, allow: ["session", "token"] })));
    if (keys.has("whitelist") || keys.has("domains")) note(draft, `rule ${name}`, ONE_USER);
  }
  // What opens may be around what a rule closes, which must then come first.
  if (isWhole) draft.access.push(...opened, ...(isOpen ? [{ allow: "everyone" }] : []));
  else if (opened.length > 0 || isOpen) note(draft, "what is open", "write first the entries that ask for a login");
}

function rulesIn(options: GivenOptions): Map<string, Map<string, string>> {
  const rules = new Map<string, Map<string, string>>();
  for (const { name, values } of options.takeAll(/^rule\./)) {
    const [, rule = "", key = ""] = /^rule\.(.+)\.([a-z]+)$/.exec(name) ?? [];
    rules.set(rule, (rules.get(rule) ?? new Map()).set(key, values[0] ?? ""));
  }
  return rules;
}

const TOKEN = /\s*(?:([A-Za-z]+)\(\s*((?:(?:`[^`]*`|"[^"]*"|'[^']*')[\s,]*)*)\)|(&&)|(\|\|))/y;

/** The entries of a rule of Traefik 2 that match no more than it does. Null if there are none. */
function entriesOf(rule: string, mayBeNarrower: boolean): object[] | null {
  let entries: object[] = [{}];
  const done: object[] = [];
  const { length } = rule.trimEnd();
  TOKEN.lastIndex = 0;
  for (let at = 0; at < length; at = TOKEN.lastIndex) {
    const [, matcher, list = "", , or] = TOKEN.exec(rule) ?? [];
    // At a token that is not known, it begins anew.
    if (TOKEN.lastIndex === 0) return null;
    if (or !== undefined) {
      done.push(...entries);
      entries = [{}];
    } else if (matcher !== undefined) {
      const values = Array.from(list.matchAll(/[`"']([^`"']*)[`"']/g), ([, value = ""]) => value);
      const parts = partsOf(matcher, values, mayBeNarrower);
      if (parts === null) return null;
      // An entry has one value of a key, and both have to hold.
      if (parts.some((part) => Object.keys(part).some((key) => entries.some((entry) => key in entry)))) return null;
      entries = entries.flatMap((entry) => parts.map((part) => ({ ...entry, ...part })));
    }
    if (done.length + entries.length > MAX_ENTRIES) return null;
  }
  const all = [...done, ...entries];
  return all.some((entry) => Object.keys(entry).length === 0) ? null : all;
}

const MAX_ENTRIES = 50;

/** What entries have for a matcher, one of which must hold. Null if they would match more, or less if that matters. */
function partsOf(matcher: string, values: readonly string[], mayBeNarrower: boolean): object[] | null {
  const paths = values.map((value) => value.replace(/\{\w+\}/g, "*"));
  // A `*` of the rule itself is no wildcard.
  const isPath = values.every((path) => /^\/(?:[\w.~@:,-]+\/|\{\w+\}\/)*(?:[\w.~@:,-]+|\{\w+\})?$/.test(path));
  if (matcher === "Host") return values.map((host) => ({ host }));
  if (matcher === "Method") return [{ methods: values.map((method) => method.toUpperCase()) }];
  if (matcher === "ClientIP") return [{ networks: values }];
  if (matcher === "Query") return mayBeNarrower ? queryOf(values) : null;
  if (matcher === "Path" && isPath) return paths.map((path) => ({ path }));
  if (matcher !== "PathPrefix" || !isPath) return null;
  // The prefix /a is also that of /ab.
  if (!mayBeNarrower && paths.some((path) => !path.endsWith("/"))) return null;
  return paths.map((path) => ({ path: `${path.replace(/\/$/, "")}/**` }));
}

/** The parameters of `Query`: texts `name=value`, or in version 3 a name and a value. */
function queryOf(values: readonly string[]): object[] | null {
  const pairs = values.every((value) => value.includes("="))
    ? values.map((value) => [value.slice(0, value.indexOf("=")), value.slice(value.indexOf("=") + 1)])
    : [values];
  const isUsable = pairs.every(
    ([name = "", value]) => /^[\w-]{1,64}$/.test(name) && value !== undefined && !/[{}]/.test(value),
  );
  return isUsable && pairs.every(({ length }) => length === 2) ? [{ query: Object.fromEntries(pairs) }] : null;
}
