/** Measures `/auth/me` on both stores, `/auth/verify`, the ceiling and the peer, in turn in each round. */
import { type GetResult, playGet, tokenOf } from "./auth-load.ts";
import { type Spread, spreadOf, WARM_UP_SECONDS } from "./load.ts";
import { startCeiling, startNest, startProduct, type Target } from "./targets.ts";

const CONNECTIONS = 64;

interface MeRow {
  name: string;
  perSecond: Spread;
  p99Ms: Spread;
  errors: number;
  /** Ratios to the rates of the ceiling and the peer, calculated for each round. */
  toCeiling: Spread;
  toNest: Spread | null;
}

interface Contestant {
  name: string;
  start: () => Promise<Target>;
  path?: string;
  /** The header with the token. */
  headerOf?: (token: string) => string;
}

/** Measures each target. The peer takes part if its built folder is given. */
const bearer = (token: string) => `Authorization: Bearer ${token}`;

export async function measureMe(
  scratch: string,
  redisPort: number,
  nestDir: string | null,
  rounds: number,
  seconds: number,
): Promise<MeRow[]> {
  const redis = { REDIS_HOST: "127.0.0.1", REDIS_PORT: String(redisPort) };
  const contestants: Contestant[] = [
    { name: "bare node:http GET", start: () => startCeiling(scratch) },
    { name: "authserve, embedded", start: () => startProduct(scratch) },
    {
      name: "authserve, /auth/verify",
      start: () => startProduct(scratch),
      path: "/auth/verify",
      headerOf: (token) => `Cookie: authserve=${token}`,
    },
    { name: "authserve, Redis", start: () => startProduct(scratch, redis) },
  ];
  if (nestDir !== null) contestants.push({ name: "NestJS, Redis", start: () => startNest(nestDir, redisPort) });

  const results = new Map<string, GetResult[]>(contestants.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const { name, start, path = "/auth/me", headerOf = bearer } of contestants) {
      const target = await start();
      try {
        const isBare = name.startsWith("bare");
        const token = isBare ? "none" : await tokenOf(target);
        const url = target.url + (isBare ? "/" : path);
        await playGet(url, [headerOf(token)], CONNECTIONS, WARM_UP_SECONDS);
        results.get(name)?.push(await playGet(url, [headerOf(token)], CONNECTIONS, seconds));
      } finally {
        await target.stop();
      }
    }
  }

  const ratesOf = (name: string) => (results.get(name) ?? []).map(({ perSecond }) => perSecond);
  const ratios = (name: string, to: string) =>
    spreadOf(ratesOf(name).map((rate, round) => rate / (ratesOf(to)[round] ?? Number.NaN)));
  return contestants.map(({ name }) => ({
    name,
    perSecond: spreadOf(ratesOf(name)),
    p99Ms: spreadOf((results.get(name) ?? []).map(({ p99Ms }) => p99Ms)),
    errors: (results.get(name) ?? []).reduce((sum, { errors }) => sum + errors, 0),
    toCeiling: ratios(name, "bare node:http GET"),
    toNest: nestDir === null ? null : ratios(name, "NestJS, Redis"),
  }));
}
