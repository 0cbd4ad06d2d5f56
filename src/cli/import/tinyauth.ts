import { type Draft, note, set } from "./draft.ts";
import {
  LOGGING,
  linesBeside,
  NO_PROVIDER,
  needProxy,
  ONE_USER,
  OTHER_FILE,
  OWN_PAGE,
  setEmails,
  setLifetime,
  setUser,
} from "./login.ts";
import { createOptions, type Found, type GivenOptions, itemsOf, readOptions, UNRESOLVED } from "./options.ts";
import { pathsOf } from "./paths.ts";

/** Names of version 5 come first, then those of 3 and 4. */
const REST: readonly (readonly [RegExp, string])[] = [
  [/^(?:auth_)?login/, "failed logins are slowed down without a setting"],
  [/^(?:oauth|generic|google|github|disable_continue|providers)/, NO_PROVIDER],
  [/^oidc/, "authserve is no provider of OpenID Connect"],
  [/^ldap/, "authserve has no LDAP"],
  [/^(?:ui|app_title|background|forgot)/, OWN_PAGE],
  [/^log/, LOGGING],
  [/^(?:server_)?(?:address|socket)/, "see HOST: without TLS the server listens on loopback"],
  [
    /^(?:secret|database|resources|analytics|disable|auth_securecookie|secure_cookie|cookie_secure|tz$|docker|p[ug]id)/,
    "",
  ],
  [/^env_?file|^experimental/, OTHER_FILE],
];

/** Reads the environment, flags or `.env` of Tinyauth 3 to 5, or a compose file with its labels. */
export function importTinyauth(text: string, draft: Draft, file: string): void {
  const found = readOptions(text, /tinyauth/i);
  const options = createOptions(draft, found.options, nameOf);
  const domain = setAddress(draft, options);
  const users = options.take("auth_users", "users");
  const usersFile = options.take("auth_usersfile", "users_file");
  const lines = usersFile && linesBeside(file, usersFile.values[0] ?? "");
  if (usersFile && !lines) note(draft, usersFile.what, "put the hash of the one user into DEMO_PASSWORD");
  setUser(draft, [...itemsOf(users), ...(lines ?? [])], (users ?? usersFile)?.what ?? "", domain);
  const emails = options.take("oauth_whitelist");
  setEmails(draft, itemsOf(emails), emails?.what ?? "");
  const expiry = options.take("auth_sessionexpiry", "session_expiry");
  const longest = Number(options.take("auth_sessionmaxlifetime")?.values[0] ?? 0);
  if (expiry) setLifetime(draft, expiry.what, Number(expiry.values[0]), longest || undefined);
  const proxies = options.take("auth_trustedproxies", "trusted_proxies");
  if (proxies) set(draft, "TRUSTED_PROXIES", itemsOf(proxies).join(","), proxies.what);
  const port = options.take("server_port", "port");
  if (port) set(draft, "PORT", port.values[0] ?? "", port.what);
  const all = { block: itemsOf(options.take("auth_ip_block")), allow: itemsOf(options.take("auth_ip_allow")) };
  addApps(draft, [...appsInLabels(draft, found.labels), ...appsInOptions(options)], domain, all);
  addNetworks(draft, {}, all);
  options.noteRest(REST);
  needProxy(draft);
}

const nameOf = (name: string) =>
  name
    .replace(/^TINYAUTH_/, "")
    .toLowerCase()
    .replace(/[.-]/g, "_");

/** Sets the address and the domain of the cookie, as Tinyauth finds it. */
function setAddress(draft: Draft, options: GivenOptions): string | undefined {
  const url = options.take("appurl", "app_url");
  if (!url) return undefined;
  set(draft, "PUBLIC_URL", url.values[0] ?? "", url.what);
  const host = URL.parse(url.values[0] ?? "")?.hostname ?? "";
  const domain = host.split(".").length > 2 ? host.slice(host.indexOf(".") + 1) : host;
  if (domain.includes(".")) set(draft, "COOKIE_DOMAIN", domain, url.what);
  return domain || undefined;
}

interface App {
  name: string;
  /** The hosts of the router of its container. */
  hosts: string[];
  /** Values by `path.allow` and the like. */
  keys: Map<string, string>;
}

function appsInLabels(draft: Draft, all: Found["labels"]): App[] {
  return all.flatMap((labels) => {
    const apps = new Map<string, App>();
    const rules = Object.entries(labels).filter(([name]) => /^traefik\.http\.routers\..*\.rule$/.test(name));
    const hosts = rules.flatMap(([, rule]) =>
      Array.from((rule ?? "").matchAll(/Host\(`([^`]*)`\)/g), ([, host = ""]) => host),
    );
    for (const [label, value] of Object.entries(labels)) {
      const [, name = "", key = ""] = /^tinyauth\.(?:apps\.([^.]+)\.)?(.+)$/.exec(label) ?? [];
      if (key === "") continue;
      if (value === null || name.includes("$")) {
        note(draft, label, UNRESOLVED);
        continue;
      }
      const app = apps.get(name) ?? { name, hosts, keys: new Map() };
      apps.set(name, app);
      app.keys.set(OLD_KEYS[key] ?? key, value);
    }
    return [...apps.values()];
  });
}

/** Labels of version 3. */
const OLD_KEYS: Record<string, string> = {
  allowed: "path.allow",
  domain: "config.domain",
  users: "users.allow",
  headers: "response.headers",
};

function appsInOptions(options: GivenOptions): App[] {
  const apps = new Map<string, App>();
  for (const { name, values } of options.takeAll(/^apps_/)) {
    const [, app = "", key = ""] = /^apps_([^_]+)_(.+)$/.exec(nameOf(name)) ?? [];
    const known = apps.get(app) ?? { name: app, hosts: [], keys: new Map() };
    apps.set(app, known);
    known.keys.set(key.replace("_", "."), values[0] ?? "");
  }
  return [...apps.values()];
}

interface Networks {
  block: string[];
  allow: string[];
}

/** Adds entries for the apps. */
function addApps(draft: Draft, apps: readonly App[], domain: string | undefined, all: Networks): void {
  for (const app of apps) {
    const { name, keys } = app;
    const own = keys.get("config.domain") ?? app.hosts[0] ?? (name && domain ? `${name}.${domain}` : undefined);
    const [host] = itemsIn(own);
    const what = (key: string) => `${key} of ${name || (host ?? "an app")}`;
    if (host !== undefined) addApp(draft, host, keys, all, what);
    for (const key of keys.keys()) {
      const [, instead = "has no counterpart that is known"] = REST_OF_APPS.find(([rest]) => rest.test(key)) ?? [];
      if (host === undefined) note(draft, what(key), UNRESOLVED);
      else if (instead !== "") note(draft, what(key), instead);
    }
  }
}

const REST_OF_APPS: readonly (readonly [RegExp, string])[] = [
  [/^(?:users|oauth|ldap)\./, ONE_USER],
  [/^response\./, "let the proxy add headers to requests for the app"],
  [/^path\.block/, "all paths need a login: write entries of access for those that are public"],
  [/^(?:config\.domain|path\.allow|ip\.)/, ""],
];

/** Adds the entries of an app, in the order in which Tinyauth asks. */
function addApp(draft: Draft, host: string, keys: App["keys"], all: Networks, what: (key: string) => string): void {
  const bypass = itemsIn(keys.get("ip.bypass"));
  if (bypass.length > 0) draft.access.push({ host, networks: bypass, allow: "everyone" });
  const open = keys.get("path.allow");
  const paths = open === undefined ? [] : pathsOf(open);
  for (const path of paths ?? []) draft.access.push({ host, ...(path !== "/**" && { path }), allow: "everyone" });
  if (paths === null) note(draft, `${what("path.allow")}: ${open}`, "write entries of access for these paths");
  const block = [...all.block, ...itemsIn(keys.get("ip.block"))];
  addNetworks(draft, { host }, { block, allow: [...all.allow, ...itemsIn(keys.get("ip.allow"))] });
}

function addNetworks(draft: Draft, host: { host?: string }, { block, allow }: Networks): void {
  if (block.length > 0) draft.access.push({ ...host, networks: block, allow: "nobody" });
  if (allow.length === 0) return;
  draft.access.push({ ...host, networks: allow, allow: ["session", "token"] }, { ...host, allow: "nobody" });
}

const itemsIn = (text = "") =>
  text
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
