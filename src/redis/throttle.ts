import { randomInt, randomUUID } from "node:crypto";
import {
  type Bucket,
  isPairBucket,
  KNOWN_ADDRESS_MS,
  STALE_ATTEMPT_MS,
  type ThrottleStore,
  WINDOW_MS,
} from "../auth/throttle/store.ts";
import { once } from "../lib/once.ts";
import { isRefused, type RedisConnection } from "./connection.ts";

// The clocks of servers that share a Redis differ: each takes its own places away when they have left its window, and those
// of others as much later.
const MAX_SKEW_MS = 15 * 60 * 1000;

// A bucket is a sorted set by time: "u:<server>:<id>" is an attempt under way, "f:<server>:<id>" a failure.
// Every script gets ARGV[1] now, ARGV[2] the window and ARGV[3] the age of a stale attempt, all in milliseconds.

/**
 * Places taken in a bucket, and how long it stays full of failures. The clocks of servers that share a Redis differ by
 * less than the age of a stale attempt: what is dated later was dated before a clock was set back, and counts no more.
 */
const MEASURE = `
local now, window, stale = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local function measure(key, limit)
  local places = redis.call("ZREVRANGEBYSCORE", key, now + stale, "(" .. (now - window), "WITHSCORES")
  local failures, wait = 0, 0
  for i = 1, #places, 2 do
    local at = tonumber(places[i + 1])
    if places[i]:sub(1, 1) == "f" or at <= now - stale then
      failures = failures + 1
      if failures == limit then wait = math.min(at, now) + window - now end
    end
  end
  return #places / 2, wait, failures
end`;

// KEYS the buckets, ARGV[4…] their limits.
const WAIT = `${MEASURE}
local longest = 0
for i, key in ipairs(KEYS) do
  local _, wait = measure(key, tonumber(ARGV[3 + i]))
  longest = math.max(longest, wait)
end
return longest`;

// KEYS the list of buckets, then the buckets; ARGV[4] the attempt's server and id, ARGV[5] and on limit and name of each
// bucket.
// The first write is one that a full Redis refuses: behind another one it would let the whole script pass.
const RESERVE = `${MEASURE}
local longest, full = 0, false
for i = 2, #KEYS do
  local limit = tonumber(ARGV[2 * i + 1])
  local taken, wait = measure(KEYS[i], limit)
  longest = math.max(longest, wait)
  full = full or taken >= limit
end
if longest > 0 then return { "throttled", longest } end
if full then return { "wait", 0 } end
local own = ARGV[4]:match("^.*:")
for i = 2, #KEYS do
  redis.call("ZADD", KEYS[i], now, "u:" .. ARGV[4])
  redis.call("ZREMRANGEBYSCORE", KEYS[i], "-inf", now - window - ${MAX_SKEW_MS})
  for _, place in ipairs(redis.call("ZRANGEBYSCORE", KEYS[i], "-inf", now - window)) do
    if place:sub(3, 2 + #own) == own then redis.call("ZREM", KEYS[i], place) end
  end
  redis.call("PEXPIRE", KEYS[i], window + stale)
  redis.call("ZADD", KEYS[1], now, ARGV[2 * i + 2])
end
redis.call("ZREMRANGEBYSCORE", KEYS[1], "-inf", now - window - ${MAX_SKEW_MS})
redis.call("PEXPIRE", KEYS[1], window + stale)
return { "reserved", 0 }`;

// KEYS and ARGV[4…] as for RESERVE.
const FAIL = `
local now, window, stale = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
for i = 2, #KEYS do
  redis.call("ZREM", KEYS[i], "u:" .. ARGV[4])
  redis.call("ZADD", KEYS[i], now, "f:" .. ARGV[4])
  redis.call("PEXPIRE", KEYS[i], window + stale)
  redis.call("ZADD", KEYS[1], now, ARGV[2 * i + 2])
end
redis.call("PEXPIRE", KEYS[1], window + stale)`;

// KEYS the list of buckets, then the buckets; ARGV[4] the attempt's server and id.
const RELEASE = `for i = 2, #KEYS do redis.call("ZREM", KEYS[i], "u:" .. ARGV[4]) end`;

// KEYS the buckets; ARGV[4] what the attempts of a server begin with.
const RELEASE_ALL = `
for _, key in ipairs(KEYS) do
  for _, place in ipairs(redis.call("ZRANGE", key, 0, -1)) do
    if place:sub(1, #ARGV[4]) == ARGV[4] then redis.call("ZREM", key, place) end
  end
end`;

// KEYS the buckets. Returns the failures of all of them, and how many buckets have any.
const COUNT = `${MEASURE}
local total, buckets = 0, 0
for _, key in ipairs(KEYS) do
  local _, _, failures = measure(key, 0)
  total = total + failures
  if failures > 0 then buckets = buckets + 1 end
end
return { total, buckets }`;

// KEYS the list of buckets, the buckets of a pair, its e-mail and its address; ARGV[4] and ARGV[5] the names of the pair and
// the address. Each failure of the pair is one of the address, too.
const CLEAR_ADDRESS = `
for _, place in ipairs(redis.call("ZRANGE", KEYS[2], 0, -1)) do redis.call("ZREM", KEYS[3], place) end
local places = redis.call("ZCARD", KEYS[4])
redis.call("DEL", KEYS[2], KEYS[4])
redis.call("ZREM", KEYS[1], ARGV[4], ARGV[5])
return places`;

// KEYS the list of buckets, then the buckets; ARGV[4…] their names.
const CLEAR = `
local places = 0
for i = 2, #KEYS do
  if not ARGV[2 + i]:find(":", 1, true) then
    places = places + redis.call("ZCARD", KEYS[i])
  end
  redis.call("DEL", KEYS[i])
  redis.call("ZREM", KEYS[1], ARGV[2 + i])
end
return places`;

// More keys in one script would hold up everybody else for too long.
const KEYS_PER_SCRIPT = 500;

type Answer = ["reserved" | "wait" | "throttled", number];

const MAX_ID = 2 ** 48 - 1;

interface Unsettled {
  /** {@link FAIL} or {@link RELEASE}. */
  script: string;
  id: number;
  buckets: Bucket[];
  /** When its places were taken, or it failed. */
  at: number;
}

// Together they go in front of the next command; more would hold it up.
const SETTLED_AT_ONCE = 50;

/**
 * The key of something that the throttle keeps. All of it lies in one slot of a cluster: an attempt takes its places in
 * several buckets in one step, and a check of the slot covers all that a login asks of the throttle.
 */
export function throttleKey({ keyPrefix }: Pick<RedisConnection, "keyPrefix">, name: string): string {
  return `${keyPrefix}throttle:{login}:${name}`;
}

/**
 * Keeps the counts in Redis, for all processes that share it. Each key goes when what it holds has left the window.
 *
 * `server` is a name of which one process runs at a time: places that an earlier one held when it was killed are given
 * back before the first attempt, or a crash loop would shut everybody out. No more guesses go uncounted than are hashed at
 * once.
 */
export function createRedisThrottleStore(redis: RedisConnection, server: string = randomUUID()): ThrottleStore {
  const list = throttleKey(redis, "buckets");
  const key = (bucket: string) => throttleKey(redis, bucket);
  const knownKey = (bucket: string) => throttleKey(redis, `known:${bucket}`);
  /** The buckets in which this process's attempts under way hold their places. */
  const held = new Map<number, Pick<Unsettled, "buckets" | "at">>();
  /** What Redis has not taken: places that may be held still, and would become failures. Oldest first. */
  let unsettled: Unsettled[] = [];
  let settling = false;

  function run(script: string, keys: string[], now: number, args: (string | number)[]): Promise<unknown> {
    return redis.ask((client) => client.eval(script, keys.length, ...keys, now, WINDOW_MS, STALE_ATTEMPT_MS, ...args));
  }
  function onBuckets(script: string, id: number, buckets: Bucket[], now: number): Promise<unknown> {
    const keys = [list, ...buckets.map(({ bucket }) => key(bucket))];
    return run(script, keys, now, [`${server}:${id}`, ...buckets.flatMap(({ bucket, limit }) => [limit, bucket])]);
  }
  function listed(): Promise<string[]> {
    return redis.ask((client) => client.zrange(list, "0", "-1"));
  }
  /** Gives back what an earlier process of this server held. */
  const releaseLeft = once(async () => {
    for (const buckets of chunks(await listed())) await run(RELEASE_ALL, buckets.map(key), 0, [`u:${server}:`]);
  });
  /** Ends attempts; without a time as of when their places were taken. */
  async function settle(script: string, ids: number[], now?: number): Promise<void> {
    for (const id of ids) {
      const places = held.get(id);
      held.delete(id);
      if (places) await settleOne({ script, id, buckets: places.buckets, at: now ?? places.at });
    }
  }
  /** Both scripts may run twice. */
  async function settleOne(one: Unsettled): Promise<void> {
    try {
      await onBuckets(one.script, one.id, one.buckets, one.at);
    } catch (error) {
      unsettled.push(one);
      throw error;
    }
  }
  /**
   * Settles what is left of the time when Redis did not answer, in front of the next command and without a wait for it.
   * A failure ends the round, and one is under way at a time: a Redis that takes no writes must not be flooded with them.
   */
  async function settleLeft(now: number): Promise<void> {
    if (settling) return;
    settling = true;
    // What has left the window holds no place any more.
    unsettled = unsettled.filter(({ at }) => at > now - WINDOW_MS);
    let isTaken = true;
    while (isTaken && unsettled.length > 0) {
      const results = await Promise.allSettled(unsettled.splice(0, SETTLED_AT_ONCE).map(settleOne));
      isTaken = results.every(({ status }) => status === "fulfilled");
    }
    settling = false;
  }

  return {
    async retryAfterMs(buckets, now) {
      await releaseLeft();
      void settleLeft(now);
      const keys = buckets.map(({ bucket }) => key(bucket));
      const limits = buckets.map(({ limit }) => limit);
      return (await run(WAIT, keys, now, limits)) as number;
    },
    async reserve(buckets, now) {
      await releaseLeft();
      void settleLeft(now);
      const id = randomInt(MAX_ID);
      const [outcome, retryAfterMs] = (await onBuckets(RESERVE, id, buckets, now).catch((error) => {
        if (!isRefused(error)) unsettled.push({ script: RELEASE, id, buckets, at: now });
        throw error;
      })) as Answer;
      if (outcome === "throttled") return { outcome, retryAfterMs };
      if (outcome === "wait") return { outcome };
      held.set(id, { buckets, at: now });
      return { outcome, ids: [id] };
    },
    fail(ids, now) {
      return settle(FAIL, ids, now);
    },
    release(ids) {
      return settle(RELEASE, ids);
    },
    async remember(bucket, now) {
      await redis.ask((client) => client.set(knownKey(bucket), now, "PX", KNOWN_ADDRESS_MS));
    },
    async isKnown(bucket, since) {
      const at = await redis.ask((client) => client.get(knownKey(bucket)));
      return at !== null && Number(at) >= since;
    },
    async failures(bucket, now) {
      return ((await run(COUNT, [key(bucket)], now, [])) as [number, number])[0];
    },
    async totals(now) {
      const all = { failures: 0, buckets: 0 };
      for (const buckets of chunks((await listed()).filter(isPairBucket))) {
        const [failures, filled] = (await run(COUNT, buckets.map(key), now, [])) as [number, number];
        all.failures += failures;
        all.buckets += filled;
      }
      return all;
    },
    async clear(of) {
      if (of !== "all") {
        const keys = [list, ...[of.pair, of.email, of.address].map(key)];
        return (await run(CLEAR_ADDRESS, keys, 0, [of.pair, of.address])) as number;
      }
      let places = 0;
      for (const buckets of chunks(await listed())) {
        places += (await run(CLEAR, [list, ...buckets.map(key)], 0, buckets)) as number;
      }
      return places;
    },
  };
}

function* chunks(buckets: string[]): Generator<string[]> {
  for (let from = 0; from < buckets.length; from += KEYS_PER_SCRIPT) yield buckets.slice(from, from + KEYS_PER_SCRIPT);
}
