/** Measures `/auth/verify` with a cookie and no entry of `access`, and with a token and many entries, in turn. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { playGet, tokenOf } from "./auth-load.ts";
import { type Spread, spreadOf, WARM_UP_SECONDS } from "./load.ts";
import { EXECUTABLE, startProduct, type Target } from "./targets.ts";

const RULES = 1000;
const CONNECTIONS = 64;

interface VerifyRates {
  cookiePerSecond: Spread;
  tokenPerSecond: Spread;
  /** The second to the first, calculated for each round. */
  ratio: Spread;
}

/** Starts a server and creates a token for it. */
async function startWithToken(scratch: string): Promise<{ target: Target; token: string }> {
  const dir = mkdtempSync(join(scratch, "rules-"));
  const env = { ...PROXIED, DATA_DIR: join(dir, "data"), CONFIG_FILE: join(dir, "authserve.yaml") };
  // All are for the host of the requests, and none matches.
  const rules = Array.from(
    { length: RULES },
    (_, n) => `  - { host: app.example.com, path: /p${n}/**, allow: everyone }`,
  );
  writeFileSync(env.CONFIG_FILE, `access:\n${rules.join("\n")}\n`);
  const target = await startProduct(scratch, env);
  const args = ["tokens", "create", "bench", "--scope", "verify:app.example.com"];
  const token = execFileSync(EXECUTABLE, args, { env: { ...process.env, ...env }, encoding: "utf8" });
  return { target, token: token.trim() };
}

const PROXIED = { TRUSTED_PROXIES: "127.0.0.1" };
const ASKED = ["X-Forwarded-For: 192.0.2.7", "X-Original-URL: https://app.example.com/files/a/b.txt"];

export async function measureVerify(scratch: string, rounds: number, seconds: number): Promise<VerifyRates> {
  const rate = async ({ url }: Target, header: string): Promise<number> => {
    await playGet(`${url}/auth/verify`, [header, ...ASKED], CONNECTIONS, WARM_UP_SECONDS);
    const { perSecond, errors } = await playGet(`${url}/auth/verify`, [header, ...ASKED], CONNECTIONS, seconds);
    if (errors > 0) throw new Error(`${errors} requests to /auth/verify failed`);
    return perSecond;
  };
  const rates: { cookie: number; token: number }[] = [];
  for (let round = 0; round < rounds; round++) {
    const plain = await startProduct(scratch, PROXIED);
    const cookie = await tokenOf(plain)
      .then((session) => rate(plain, `Cookie: authserve=${session}`))
      .finally(plain.stop);
    const { target, token } = await startWithToken(scratch);
    rates.push({ cookie, token: await rate(target, `Authorization: Bearer ${token}`).finally(target.stop) });
  }
  return {
    cookiePerSecond: spreadOf(rates.map(({ cookie }) => cookie)),
    tokenPerSecond: spreadOf(rates.map(({ token }) => token)),
    ratio: spreadOf(rates.map(({ cookie, token }) => token / cookie)),
  };
}
