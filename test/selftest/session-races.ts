import { setTimeout as delay } from "node:timers/promises";
import type { SessionStore } from "../../src/auth/sessions.ts";

/** The result of a race. */
export interface RaceResult {
  race: string;
  rounds: number;
  /** Rounds in which the store broke its contract. */
  broken: number;
  durationMs: number;
}

/** The number of rounds of each race. */
interface RaceRounds {
  logins: number;
  logouts: number;
  renewals: number;
  reads: number;
}

const PARALLEL_LOGINS = 50;
const PARALLEL_READS = 200;
const LIFETIME_SECONDS = 60;
const SHORT_LIFETIME_SECONDS = 1;
const EXPIRY_STEP_MS = 20;
// A record may expire a little late, because Redis counts whole seconds, but never early.
const EXPIRY_SLACK_MS = 1000;

// A server that finds the database locked tries again within 100 ms (SQLite's busy handler). Without pauses its
// deliveries waited for up to 8 s and then got 503. With these pauses they wait 0.4 s.
const PAUSE_EVERY_MS = 200;
const PAUSE_MS = 100;

/** Returns a function that pauses when one is due, so that a running server can write to the database. */
function createPauses(): () => Promise<void> {
  let lastPauseAt = performance.now();
  return async () => {
    if (performance.now() - lastPauseAt < PAUSE_EVERY_MS) return;
    await delay(PAUSE_MS);
    lastPauseAt = performance.now();
  };
}

/**
 * Runs races against a session store, through several connections to it. They change the records of `userId`, which
 * must not be a real user.
 */
export async function runSessionRaces(
  stores: readonly SessionStore[],
  userId: string,
  rounds: RaceRounds,
): Promise<RaceResult[]> {
  const [first, last] = [stores[0], stores.at(-1)];
  if (!first || !last) throw new Error("no store was given");
  // A store that cannot be written fails here once, instead of in each parallel login.
  await first.replace(userId, "first", LIFETIME_SECONDS);
  const storeOf = (index: number) => stores[index % stores.length] ?? first;

  const pauseIfDue = createPauses();

  async function race(name: string, count: number, holds: (round: number) => Promise<boolean>): Promise<RaceResult> {
    const startedAt = performance.now();
    let broken = 0;
    for (let round = 0; round < count; round++) {
      if (!(await holds(round))) broken++;
      await pauseIfDue();
    }
    return { race: name, rounds: count, broken, durationMs: Math.round(performance.now() - startedAt) };
  }

  /** Parallel logins leave one session. All connections see it, and no other can log out. */
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

  async function renewalRevivesNothing(round: number): Promise<boolean> {
    const old = `renewed-${round}`;
    await storeOf(round).replace(userId, old, LIFETIME_SECONDS);
    const renewal = () => storeOf(round).extendIf(userId, old, 2 * LIFETIME_SECONDS);
    const login = () => storeOf(round + 1).replace(userId, `after-${round}`, LIFETIME_SECONDS);
    await Promise.all(round % 2 === 0 ? [renewal(), login()] : [login(), renewal()]);
    const isRevived = await storeOf(round).extendIf(userId, old, LIFETIME_SECONDS);
    return !isRevived && (await storeOf(round).current(userId)) === `after-${round}`;
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
      await race("a renewal that races a login revives nothing", rounds.renewals, renewalRevivesNothing),
      await race(`${PARALLEL_READS} reads during a logout revive nothing`, rounds.reads, readsDoNotRevive),
      await race("a session ends with its lifetime", 1, recordEndsInTime),
    ];
  } finally {
    await first.remove(userId);
  }
}
