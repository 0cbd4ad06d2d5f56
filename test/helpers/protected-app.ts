import assert from "node:assert/strict";
import { after, before } from "node:test";
import { needsCaddy, needsHaproxy, needsNginx } from "./back-end.ts";
import { EMAIL, PASSWORD } from "./credentials.ts";
import { type Echo, type EchoApp, startEchoApp } from "./echo-app.ts";
import { type Edit, type ProxyName, type ProxyProcess, startProxy } from "./proxy.ts";
import { type Server, startServer } from "./server.ts";
import { PAGE, type Visit, Visitor } from "./visitor.ts";

export const AUTH = "https://auth.example.com";
export const APP = "https://app.example.com";
export const COOKIE = "__Secure-authserve";

/** A proxy before an app, with authserve. */
interface ProtectedApp {
  proxy: ProxyProcess;
  server: Server;
  [Symbol.asyncDispose](): Promise<void>;
}

/** The same with an app that answers with what it received. */
interface EchoSite extends ProtectedApp {
  app: EchoApp;
}

/** Starts authserve, and an app, behind a proxy. `edit` changes the proxy's configuration of the app. */
export async function startSite(name: ProxyName, env: Record<string, string> = {}, edit?: Edit): Promise<EchoSite> {
  // What has started ends also if the next part does not start.
  await using started = new AsyncDisposableStack();
  const app = started.use(await startEchoApp());
  const site = started.use(await startBefore(app.port, name, env, edit));
  const parts = started.move();
  return { ...site, app, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

/** A site for the tests of a suite: it starts before them, and ends after them. */
export function siteOf(...site: Parameters<typeof startSite>): Omit<EchoSite, typeof Symbol.asyncDispose> {
  let started: EchoSite | undefined;
  before(async () => {
    started = await startSite(...site);
  });
  after(() => started?.[Symbol.asyncDispose]());
  const running = () => started ?? assert.fail("the site has not started");
  return {
    get proxy() {
      return running().proxy;
    },
    get server() {
      return running().server;
    },
    get app() {
      return running().app;
    },
  };
}

/** Starts authserve and a proxy before an app that listens already. */
export async function startBefore(
  appPort: number,
  name: ProxyName,
  env: Record<string, string> = {},
  edit?: Edit,
): Promise<ProtectedApp> {
  const settings = { PUBLIC_URL: AUTH, COOKIE_DOMAIN: "example.com", TRUSTED_PROXIES: "127.0.0.1,::1", ...env };
  await using started = new AsyncDisposableStack();
  const server = started.use(await startServer({ env: settings }));
  const proxy = started.use(await startProxy(name, { authservePort: server.port, appPort }, edit));
  const parts = started.move();
  return { proxy, server, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

const unescapeHtml = (text: string) => text.replaceAll("&quot;", '"').replaceAll("&#39;", "'").replaceAll("&amp;", "&");

const SAME_ORIGIN = { "sec-fetch-site": "same-origin" };

/** Fills in the login page, as it is shown, and follows where it leads. */
export function logInOn(
  page: Visit,
  visitor: Visitor,
  auth = AUTH,
  headers: Record<string, string> = SAME_ORIGIN,
  email = EMAIL,
): Promise<Visit> {
  assert.deepEqual([page.status, new URL(page.url).origin], [200, auth]);
  const rd = unescapeHtml(/name="rd" value="([^"]*)"/.exec(page.text)?.[1] ?? "");
  return visitor.open(`${auth}/login`, {
    method: "POST",
    headers: {
      ...PAGE,
      "content-type": "application/x-www-form-urlencoded",
      origin: auth,
      ...headers,
    },
    body: new URLSearchParams({ rd, email, password: PASSWORD }).toString(),
  });
}

/** A browser that has logged in on its way to the app. */
export async function loggedIn({ proxy }: Pick<ProtectedApp, "proxy">, status = 200): Promise<Visitor> {
  const visitor = new Visitor(proxy.port);
  const visit = await logInOn(await visitor.open(`${APP}/`), visitor);
  assert.deepEqual([visit.status, visit.url], [status, `${APP}/`]);
  return visitor;
}

/** What the app received, as it says in its answer. */
export const echoOf = ({ status, text }: Visit): Echo => {
  assert.equal(status, 200, text);
  return JSON.parse(text) as Echo;
};

/** The headers that an app may take for those of the user. CGI folds `-` and `_`, and some servers also `.`. */
export function userHeaders({ headers }: Echo): [string, string][] {
  const folded = headers.map(([name, value]): [string, string] => [name.toLowerCase().replace(/[-_.]/g, ""), value]);
  const isOfUser = ([name, value]: [string, string]) =>
    /^remote(?:user|email)$/.test(name) || (name === "remotetoken" && value !== "");
  return folded.filter(isOfUser).sort();
}

/** Those of the logged-in user. */
export const GENUINE = [
  ["remoteemail", EMAIL],
  ["remoteuser", "1"],
];

/** Each proxy, and what a test of it needs. */
export const PROXIES: [ProxyName, () => { skip: string | false }][] = [
  ["nginx", needsNginx],
  ["caddy", needsCaddy],
  ["haproxy", needsHaproxy],
];
