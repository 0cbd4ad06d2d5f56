import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { decodeJwt } from "jose";
import { loadAppPreset } from "../../src/auth/clients/preset-files.ts";
import { APACHE_MODULES } from "./back-end.ts";
import { startProgram } from "./command.ts";
import { EMAIL, PASSWORD, PASSWORD_HASH } from "./credentials.ts";
import { type ForwardTarget, startTarget } from "./target.ts";
import type { Cleanup } from "./temp-dir.ts";
import { isWell, until } from "./until.ts";
import { userAgent } from "./user-agent.ts";
import { workingDir } from "./working-dir.ts";

const SECRET = "the secret of the app, a long one";

/** Two people with the same password. The first one is the person of the environment. */
const PEOPLE = `people:
  ada: { email: ${EMAIL}, groups: [family, admin], owner: true }
  ben: { email: ben@example.com, passwordHash: env:BEN_HASH, groups: [family] }
`;

/** What {@link PEOPLE} log in with. */
export const [ADA, BEN] = [
  { email: EMAIL, password: PASSWORD },
  { email: "ben@example.com", password: PASSWORD },
] as const;

/**
 * The settings of a server with one client, `app`, which listens on a port. A logout leads to a path of it. With
 * `hasPeople` there are {@link ADA} and {@link BEN}.
 */
export function clientSettings(
  port: number,
  preset = "express-openid-connect",
  after = "",
  hasPeople = false,
): { dir: string; env: Record<string, string> } {
  const dir = workingDir();
  const app = `http://127.0.0.1:${port}`;
  const { path } = loadAppPreset(preset).backchannel ?? {};
  const file = join(dir, "authserve.yaml");
  writeFileSync(
    file,
    `${hasPeople ? PEOPLE : ""}clients:
  app:
    preset: ${preset}
    url: ${app}
    secret: env:APP_SECRET
    logout: { backchannel: "${app}${path}", after: ["${app}${after}"] }
    claims: { groups: [admin] }
`,
  );
  return { dir, env: { APP_SECRET: SECRET, CONFIG_FILE: file, ...(hasPeople && { BEN_HASH: PASSWORD_HASH }) } };
}

/** Starts the app of `client` settings, an express-openid-connect that keeps its sessions in memory. */
export async function startOidcApp(cleanup: Cleanup, port: number, issuer: string): Promise<string> {
  const child = spawn(process.execPath, [join(import.meta.dirname, "../fixtures/oidc-app.mjs")], {
    env: { ...process.env, PORT: String(port), ISSUER: issuer, SECRET },
    stdio: ["ignore", "pipe", "inherit"],
  });
  cleanup.after(() => void child.kill());
  await once(child.stdout, "data");
  return `http://127.0.0.1:${port}`;
}

const MODULES = ["mpm_event", "authn_core", "authz_core", "authz_user", "headers", "auth_openidc"];

/**
 * Starts the app of `client` settings with the preset `mod-auth-openidc`. All pages need a login, except `/open`. Each
 * answer has the user in `X-User`.
 */
export async function startApache(cleanup: Cleanup, port: number, issuer: string): Promise<string> {
  const url = `http://127.0.0.1:${port}`;
  const [redirect] = loadAppPreset("mod-auth-openidc").redirects;
  // Apache reads pages as another user.
  const dir = workingDir(0o755);
  const file = join(dir, "apache2.conf");
  writeFileSync(join(dir, "index.html"), "the app");
  writeFileSync(join(dir, "open"), "logged out");
  writeFileSync(
    file,
    `${MODULES.map((name) => `LoadModule ${name}_module ${APACHE_MODULES}/mod_${name}.so`).join("\n")}
ServerRoot ${dir}
DefaultRuntimeDir ${dir}
PidFile ${dir}/pid
ErrorLog ${dir}/error.log
ServerName 127.0.0.1
Listen 127.0.0.1:${port}
User www-data
Group www-data
DocumentRoot ${dir}
OIDCProviderMetadataURL ${issuer}/.well-known/openid-configuration
OIDCClientID app
OIDCClientSecret "${SECRET}"
OIDCRedirectURI ${redirect}
OIDCCryptoPassphrase "a passphrase of this app"
OIDCPKCEMethod S256
OIDCScope "openid email groups"
OIDCRemoteUserClaim email
OIDCUnAuthAction auth true
<Location />
AuthType openid-connect
Require valid-user
Header set X-User expr=%{REMOTE_USER}
</Location>
<Location /open>
AuthType none
Require all granted
</Location>
`,
  );
  // One process, so that nothing is left of it when it is killed.
  const { child, exited, stderr } = startProgram("apache2", ["-X", "-f", file], { dir });
  cleanup.after(async () => {
    child.kill("SIGKILL");
    await exited;
  });
  let ended = false;
  void exited.then(() => {
    ended = true;
  });
  await until(async () => ended || isWell(() => fetch(`${url}/open`)));
  if (ended) throw new Error(`apache2 did not start: ${stderr()}`);
  return url;
}

const CALLBACK = "http://127.0.0.1:9/callback";

/** Apps without pages, which only get told of the ends of sessions. */
interface ToldApps extends Pick<ForwardTarget, "answer"> {
  /** The settings of a server that has them as clients. */
  settings: { dir: string; env: Record<string, string> };
  /** What they were told, one by one: the client and the session, as `photos <sid>`. */
  told(): string[];
}

/** Starts apps with these names, which take each logout until `answer` is called. */
export async function startToldApps(cleanup: Cleanup, names: readonly string[]): Promise<ToldApps> {
  const target = await startTarget();
  cleanup.after(() => target[Symbol.asyncDispose]());
  const dir = workingDir();
  const file = join(dir, "authserve.yaml");
  const entries = names.map(
    (name) =>
      `  ${name}: { redirects: ["${CALLBACK}"], secret: env:APP_SECRET, consent: never, logout: { backchannel: "${target.url}" } }`,
  );
  writeFileSync(file, ["clients:", ...entries, ""].join("\n"));
  return {
    answer: target.answer,
    settings: { dir, env: { APP_SECRET: SECRET, CONFIG_FILE: file } },
    told: () =>
      target.received.map(({ body }) => {
        const { aud, sid } = decodeJwt(String(new URLSearchParams(String(body)).get("logout_token")));
        return `${aud} ${sid}`;
      }),
  };
}

/** Logs in at a server, and from there to apps. Returns what they are to be told at the end, as {@link ToldApps} do. */
export async function logInToApps({ url }: { url: string }, names: readonly string[]): Promise<string[]> {
  const browser = userAgent();
  await browser.request(`${url}/login`, {
    method: "POST",
    body: new URLSearchParams({ email: EMAIL, password: PASSWORD }),
  });
  const sessions: string[] = [];
  for (const name of names) {
    const common = { client_id: name, redirect_uri: CALLBACK };
    const asked = new URLSearchParams({ ...common, response_type: "code", scope: "openid" });
    const { headers } = await browser.request(`${url}/oauth/authorize?${asked}`);
    const code = String(new URL(String(headers.get("location")), url).searchParams.get("code"));
    const body = new URLSearchParams({ ...common, grant_type: "authorization_code", code, client_secret: SECRET });
    const answer = await fetch(`${url}/oauth/token`, { method: "POST", body });
    const { id_token } = (await answer.json()) as { id_token: string };
    sessions.push(`${name} ${decodeJwt(id_token).sid}`);
  }
  return sessions;
}
