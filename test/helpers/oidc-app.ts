import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadAppPreset } from "../../src/auth/clients/preset-files.ts";
import { APACHE_MODULES } from "./back-end.ts";
import { startProgram } from "./command.ts";
import type { Cleanup } from "./temp-dir.ts";
import { isWell, until } from "./until.ts";
import { workingDir } from "./working-dir.ts";

const SECRET = "the secret of the app, a long one";

/** The settings of a server with one client, `app`, which listens on a port. A logout leads to a path of it. */
export function clientSettings(
  port: number,
  preset = "express-openid-connect",
  after = "",
): { dir: string; env: Record<string, string> } {
  const dir = workingDir();
  const app = `http://127.0.0.1:${port}`;
  const { path } = loadAppPreset(preset).backchannel ?? {};
  const file = join(dir, "authserve.yaml");
  writeFileSync(
    file,
    `clients:
  app:
    preset: ${preset}
    url: ${app}
    secret: env:APP_SECRET
    logout: { backchannel: "${app}${path}", after: ["${app}${after}"] }
    claims: { groups: [admin] }
`,
  );
  return { dir, env: { APP_SECRET: SECRET, CONFIG_FILE: file } };
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
