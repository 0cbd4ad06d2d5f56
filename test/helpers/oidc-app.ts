import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadAppPreset } from "../../src/auth/clients/preset-files.ts";
import type { Cleanup } from "./temp-dir.ts";
import { workingDir } from "./working-dir.ts";

const SECRET = "the secret of the app, a long one";

/** The settings of a server with one client, `app`, which listens on a port. */
export function clientSettings(port: number): { dir: string; env: Record<string, string> } {
  const dir = workingDir();
  const app = `http://127.0.0.1:${port}`;
  const { path } = loadAppPreset("express-openid-connect").backchannel ?? {};
  const file = join(dir, "authserve.yaml");
  writeFileSync(
    file,
    `clients:
  app:
    preset: express-openid-connect
    url: ${app}
    secret: env:APP_SECRET
    logout: { backchannel: "${app}${path}", after: ["${app}"] }
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
