import { setTimeout as delay } from "node:timers/promises";
import type { SessionStore } from "./sessions.ts";

/** What a race came to. */
export interface RaceResult {
  race: string;
  rounds: number;
  /** Rounds in which the store broke its promise. */
  broken: number;
  durationMs: number;
}

/** How many rounds of each race are run. */
export interface RaceRounds {
  logins: number;
  logouts: number;
  reads: number;
}

const PARALLEL_LOGINS = 50;
const PARALLEL_READS = 200;
const LIFETIME_SECONDS = 60;
const SHORT_LIFETIME_SECONDS = 1;
const EXPIRY_STEP_MS = 20;
// A record may go a little late, as Redis counts its seconds; never early.
const EXPIRY_SLACK_MS = 1000;

// A server that finds the database held looks again within 100 ms (SQLite's busy handler). Without pauses its deliveries
// wait for up to 8 s, and get 503 then; with these for 0.4 s.
const BUSY_MS = 200;
const PAUSE_MS = 100;

/** Returns a function that leaves the database to a server beside this, when it is time again. */
function givingWay(): () => Promise<void> {
  let pausedAt = performance.now();
  return async () => {
    if (performance.now() - pausedAt < BUSY_MS) return;
    await delay(PAUSE_MS);
    pausedAt = performance.now();
  };
}

/**
 * Runs the races that a store of single sessions must survive, through several connections to the same store.
 * They touch the records of `userId` alone, which must be nobody's.
 */
export async function raceSessions(
  stores: readonly SessionStore[],
  userId: string,
  rounds: RaceRounds,
): Promise<RaceResult[]> {
  const [first, last] = [stores[0], stores.at(-1)];
  if (!first || !last) throw new Error("there is no store to race on");
  // A store that cannot be written says so now, and not once for each of the parallel logins.
  await first.replace(userId, "first", LIFETIME_SECONDS);
  const storeOf = (index: number) => stores[index % stores.length] ?? first;

  const giveWay = givingWay();

  async function race(name: string, count: number, isHeld: (round: number) => Promise<boolean>): Promise<RaceResult> {
    const startedAt = performance.now();
    let broken = 0;
    for (let round = 0; round < count; round++) {
      if (!(await isHeld(round))) broken++;
      await giveWay();
    }
    return { race: name, rounds: count, broken, durationMs: Math.round(performance.now() - startedAt) };
  }

  /** Of parallel logins one session is left, all connections see the same one, and only it can log out. */
  async function loginsLeaveOne(round: number): Promise<boolean> {
    const sids = Array.from({ length: PARALLEL_LOGINS }, (_, index) => `${round}-${index}`);
    await Promise.all(sids.map((sid, index) => storeOf(index).replace(userId, sid, LIFETIME_SECONDS)));
    const seen = new Set(await Promise.all(stores.map((store) => store.current(userId))));
    const [winner] = seen;
    const ended = await Promise.all(sids.map((sid, index) => storeOf(index).removeIf(userId, sid)));
    const winners = sids.filter((_, index) => ended[index]);
    return seen.size === 1 && winners.length === 1 && winners[0] === winner;
  }

  async function logoutSparesLogin(round: number): Promise<boolean> {
    await storeOf(round).replace(userId, `old-${round}`, LIFETIME_SECONDS);
    const logout = () => storeOf(round).removeIf(userId, `old-${round}`);
    const login = () => storeOf(round + 1).replace(userId, `new-${round}`, LIFETIME_SECONDS);
    await Promise.all(round % 2 === 0 ? [logout(), login()] : [login(), logout()]);
    return (await storeOf(round).current(userId)) === `new-${round}`;
  }

  async function readsDoNotRevive(round: number): Promise<boolean> {
    await storeOf(round).replace(userId, `read-${round}`, LIFETIME_SECONDS);
    const reads = () => Array.from({ length: PARALLEL_READS / 2 }, (_, index) => storeOf(index).current(userId));
    await Promise.all([...reads(), storeOf(round).removeIf(userId, `read-${round}`), ...reads()]);
    return (await storeOf(round + 1).current(userId)) === null;
  }

  async function recordEndsInTime(): Promise<boolean> {
    const startedAt = Date.now();
    await first?.replace(userId, "short", SHORT_LIFETIME_SECONDS);
    const endsAt = startedAt + SHORT_LIFETIME_SECONDS * 1000;
    while ((await last?.current(userId)) !== null) {
      if (Date.now() > endsAt + EXPIRY_SLACK_MS) return false;
      await delay(EXPIRY_STEP_MS);
    }
    return Date.now() >= endsAt;
  }

  try {
    return [
      await race(`${PARALLEL_LOGINS} parallel logins leave one session`, rounds.logins, loginsLeaveOne),
      await race("a logout spares the login that replaces it", rounds.logouts, logoutSparesLogin),
      await race(`${PARALLEL_READS} reads during a logout revive nothing`, rounds.reads, readsDoNotRevive),
      await race("a session ends with its lifetime", 1, recordEndsInTime),
    ];
  } finally {
    await first.remove(userId);
  }
}
