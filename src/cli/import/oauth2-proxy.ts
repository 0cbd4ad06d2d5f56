import { isObject } from "../../lib/json.ts";
import { type Draft, note, set } from "./draft.ts";
import {
  LOGGING,
  linesBeside,
  NO_PROVIDER,
  needProxy,
  ONE_USER,
  OTHER_FILE,
  OWN_PAGE,
  REDIS,
  setEmails,
  setLifetime,
  setUser,
} from "./login.ts";
import { createOptions, type Found, type GivenOptions, itemsOf, readOptions } from "./options.ts";
import { pathsOf } from "./paths.ts";

const HEADERS = "the app gets Remote-User and Remote-Email: see docs/protect-an-app.md";
const UPSTREAMS = "authserve passes nothing on: a proxy asks it, see docs/protect-an-app.md";

/** Names without the s of the plural. */
const REST: readonly (readonly [RegExp, string])[] = [
  [/^(?:upstream|proxy_websocket|flush|pass_host|ssl_upstream|disable_keep)/, UPSTREAMS],
  [/^(?:inject|pass|set|basic_auth|prefer_email|skip_auth_strip)/, HEADERS],
  [
    /^(?:provider|client|oidc|login_url|redeem|validate|profile|scope|prompt|approval|allowed|keycloak|azure|entra|google|github|gitlab|bitbucket|jwt|pubjwk|acr|insecure_oidc|skip_(?:oidc|claim|jwt|provider)|resource|code_challenge|extra_jwt|backend_logout|bearer|user_id|use_system|email_domain)/,
    NO_PROVIDER,
  ],
  [/^(?:banner|footer|custom|display|show_debug|sign_in|template)/, OWN_PAGE],
  [/log|^request_id|^silence/, LOGGING],
  [/^(?:redis|session_store)/, REDIS],
  [/^(?:metric|ping|ready|gcp)/, "authserve has /healthz, /readyz and /metrics"],
  [/^api_route/, "programs get 401 without a setting"],
  [/^(?:alpha_)?config$|^env_file/, OTHER_FILE],
  [/^(?:proxy_prefix|real_client|encode|relative|force_json|force_https|tls_|https)/, "see docs/protect-an-app.md"],
  [/^(?:cookie|session_cookie|reverse_proxy|ssl_insecure|tz$)/, ""],
];

/** Reads the file, environment, flags or alpha configuration of OAuth2 Proxy. */
export function importOauth2Proxy(text: string, draft: Draft, file: string): void {
  const found = readOptions(text, /oauth2[-_]proxy/);
  const options = createOptions(draft, [...found.options, ...alphaOptions(found.documents)], nameOf);
  const url = options.take("redirect_url");
  if (url) set(draft, "PUBLIC_URL", URL.parse(url.values[0] ?? "")?.origin ?? "", url.what);
  if (draft.env.has("PUBLIC_URL"))
    note(draft, url?.what ?? "", "if the app has this host too, see One host for all in docs/protect-an-app.md");
  setDomains(draft, options);
  const expire = options.take("cookie_expire");
  const seconds = expire && secondsOf(expire.values[0] ?? "");
  if (expire && seconds) setLifetime(draft, expire.what, seconds);
  else if (expire) note(draft, expire.what, "set JWT_TTL and SESSION_MAX_AGE");
  setUsers(draft, options, file);
  const proxies = options.take("trusted_proxy_ip");
  if (proxies) set(draft, "TRUSTED_PROXIES", itemsOf(proxies).join(","), proxies.what);
  const address = options.take("http_address");
  const [, listens = "", port] = /^(?:http:\/\/)?(.*):([0-9]+)$/i.exec(address?.values[0] ?? "") ?? [];
  if (address && port !== undefined) set(draft, "PORT", port, address.what);
  if (address && !/^(?:127\.|localhost|\[::1\])/.test(listens))
    note(draft, address.what, "see HOST: without TLS the server listens on loopback");
  addOpen(draft, options);
  options.noteRest(REST);
  needProxy(draft);
}

const nameOf = (name: string) =>
  name
    .replace(/^OAUTH2_PROXY_/, "")
    .toLowerCase()
    .replace(/[.-]/g, "_")
    .replace(/([^s])s$/, "$1");

/** The top keys of the alpha configuration, and where its server listens. */
function alphaOptions(documents: readonly unknown[]): Found["options"] {
  const maps = documents.filter(isObject).filter((map) => isObject(map.upstreamConfig) || Array.isArray(map.providers));
  return maps.flatMap(({ server, ...others }) => {
    const address = isObject(server) ? (server.bindAddress ?? server.BindAddress) : undefined;
    const names = Object.keys(others).map((name) => ({ name, what: name, values: ["set"] }));
    return typeof address === "string"
      ? [...names, { name: "http_address", what: "server", values: [address] }]
      : names;
  });
}

function setDomains(draft: Draft, options: GivenOptions): void {
  const domains = options.take("cookie_domain");
  const [domain, ...others] = itemsOf(domains);
  if (domain !== undefined) set(draft, "COOKIE_DOMAIN", domain, domains?.what ?? "");
  for (const other of others) note(draft, `${domains?.what}: ${other}`, "COOKIE_DOMAIN is one domain");
  const targets = options.take("whitelist_domain");
  const hosts = itemsOf(targets).filter((target) => target.replace(/^\*?\./, "") !== domain?.replace(/^\./, ""));
  const named = hosts.filter((host) => /^[a-z0-9]/i.test(host));
  if (named.length > 0)
    set(draft, "REDIRECT_ORIGINS", named.map((host) => `https://${host}`).join(","), targets?.what ?? "");
  for (const host of hosts.filter((host) => !named.includes(host)))
    note(draft, `${targets?.what}: ${host}`, "name the origins in REDIRECT_ORIGINS");
}

function setUsers(draft: Draft, options: GivenOptions, file: string): void {
  const users = options.take("htpasswd_file");
  const lines = users && linesBeside(file, users.values[0] ?? "");
  if (lines) setUser(draft, lines, users.what, draft.env.get("COOKIE_DOMAIN")?.value?.replace(/^\./, ""));
  else if (users) note(draft, users.what, "put the hash of the one user into DEMO_PASSWORD");
  const emails = options.take("authenticated_emails_file");
  const list = emails && linesBeside(file, emails.values[0] ?? "");
  if (list) setEmails(draft, list, emails.what);
  else if (emails) note(draft, emails.what, "put the address of the one user into DEMO_EMAIL");
  const domains = options.take("email_domain");
  if (itemsOf(domains).some((domain) => domain !== "*")) note(draft, domains?.what ?? "", ONE_USER);
}

/** Reads a duration of Go such as `168h0m0s`. Undefined for others, and for none. */
function secondsOf(text: string): number | undefined {
  const [whole, hours = 0, minutes = 0, seconds = 0] =
    /^(?:([0-9]{1,6})h)?(?:([0-9]{1,6})m)?(?:([0-9]{1,6})s)?$/.exec(text) ?? [];
  return whole === undefined ? undefined : Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds) || undefined;
}

function addOpen(draft: Draft, options: GivenOptions): void {
  const networks = options.take("trusted_ip");
  if (networks) draft.access.push({ networks: itemsOf(networks), allow: "everyone" });
  if (options.take("skip_auth_preflight")?.values[0] === "true")
    draft.access.push({ methods: ["OPTIONS"], allow: "everyone" });
  const routes = options.take("skip_auth_route", "skip_auth_regex");
  const patterns = routes?.values.length === 1 ? (routes.values[0] ?? "").split(",") : (routes?.values ?? []);
  for (const pattern of patterns) {
    const [, method, regex = pattern] = /^([A-Za-z]*)=(.*)$/s.exec(pattern) ?? [];
    const paths = pathsOf(regex);
    if (paths === null) note(draft, `${routes?.what}: ${pattern}`, "write entries of access for these paths");
    const methods = method ? { methods: [method.toUpperCase()] } : {};
    for (const path of paths ?? [])
      draft.access.push({ ...(path !== "/**" && { path }), ...methods, allow: "everyone" });
  }
}
