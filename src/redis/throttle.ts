import { randomInt, randomUUID } from "node:crypto";
import {
  type Bucket,
  isPairBucket,
  KNOWN_ADDRESS_MS,
  MAX_ATTEMPT_ID,
  MAX_SKEW_MS,
  STALE_ATTEMPT_MS,
  type ThrottleStore,
  WINDOW_MS,
} from "../auth/throttle/store.ts";
import { once } from "../lib/once.ts";
import { isRefused, type RedisConnection } from "./connection.ts";

// A bucket is a sorted set by time. "u:<server>:<id>" is an attempt in flight, "f:<server>:<id>" is a failure.
// A server removes its own places when they leave its window, and those of others MAX_SKEW_MS later.
// Every script gets ARGV[1] now, ARGV[2] the window and ARGV[3] the age of a stale attempt, all in milliseconds.

/**
 * Returns the places taken in a bucket, how long it stays full of failures, and the failures. Clocks of servers differ
 * by less than the age of a stale attempt. Later times come from before a clock was set back and do not count.
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

// KEYS: the buckets. ARGV[4…]: their limits.
const WAIT = `${MEASURE}
local longest = 0
for i, key in ipairs(KEYS) do
  local _, wait = measure(key, tonumber(ARGV[3 + i]))
  longest = math.max(longest, wait)
end
return longest`;

// KEYS: the list of buckets, then the buckets. ARGV[4]: the attempt's server and id. ARGV[5…]: limit and name of each
// bucket.
// A full Redis checks only the first write of a script, so that one must be a write that needs memory.
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

// KEYS and ARGV as for RESERVE.
const FAIL = `
local now, window, stale = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
for i = 2, #KEYS do
  redis.call("ZREM", KEYS[i], "u:" .. ARGV[4])
  redis.call("ZADD", KEYS[i], now, "f:" .. ARGV[4])
  redis.call("PEXPIRE", KEYS[i], window + stale)
  redis.call("ZADD", KEYS[1], now, ARGV[2 * i + 2])
end
redis.call("PEXPIRE", KEYS[1], window + stale)`;

// KEYS: the list of buckets, then the buckets. ARGV[4]: the attempt's server and id.
const RELEASE = `for i = 2, #KEYS do redis.call("ZREM", KEYS[i], "u:" .. ARGV[4]) end`;

// KEYS: the buckets. ARGV[4]: the prefix of a server's attempts.
const RELEASE_ALL = `
for _, key in ipairs(KEYS) do
  for _, place in ipairs(redis.call("ZRANGE", key, 0, -1)) do
    if place:sub(1, #ARGV[4]) == ARGV[4] then redis.call("ZREM", key, place) end
  end
end`;

// KEYS: the buckets. Returns the sum of their failures, and the number of buckets with failures.
const COUNT = `${MEASURE}
local total, buckets = 0, 0
for _, key in ipairs(KEYS) do
  local _, _, failures = measure(key, 0)
  total = total + failures
  if failures > 0 then buckets = buckets + 1 end
end
return { total, buckets }`;

// KEYS: the list of buckets, then the buckets of a pair, its address and the codes, then those that others share.
// ARGV[4…]: the names of the first three. Each failure of the pair is also in the bucket of the address.
const CLEAR_ADDRESS = `
for _, place in ipairs(redis.call("ZRANGE", KEYS[2], 0, -1)) do
  for i = 5, #KEYS do redis.call("ZREM", KEYS[i], place) end
end
local places = math.max(redis.call("ZCARD", KEYS[3]), redis.call("ZCARD", KEYS[4]))
redis.call("DEL", KEYS[2], KEYS[3], KEYS[4])
redis.call("ZREM", KEYS[1], ARGV[4], ARGV[5], ARGV[6])
return places`;

// KEYS: the list of buckets, then the buckets. ARGV[4…]: their names.
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

// More keys in one script would block other clients for too long.
const KEYS_PER_SCRIPT = 500;

type Reply = ["reserved" | "wait" | "throttled", number];

interface Unsettled {
  /** {@link FAIL} or {@link RELEASE}. */
  script: string;
  id: number;
  buckets: Bucket[];
  /** When the attempt took its places, or failed. */
  at: number;
}

// They are sent together before the next command. More would delay it.
const SETTLED_AT_ONCE = 50;

/**
 * A key of the throttle. All its keys are in one slot of a cluster, so that one script can take places in several
 * buckets. A check of this slot covers everything that a login needs from the throttle.
 */
export function throttleKey({ keyPrefix }: Pick<RedisConnection, "keyPrefix">, name: string): string {
  return `${keyPrefix}throttle:{login}:${name}`;
}

/**
 * Keeps the counts in Redis, for all processes that share it. Each key expires once its failures have left the window.
 *
 * `server` names a server that runs as one process at a time. Before the first attempt, places of a killed predecessor
 * are released, or a crash loop would lock everyone out. At most as many guesses as are hashed at once go uncounted.
 */
export function createRedisThrottleStore(redis: RedisConnection, server: string = randomUUID()): ThrottleStore {
  const list = throttleKey(redis, "buckets");
  const key = (bucket: string) => throttleKey(redis, bucket);
  const knownKey = (bucket: string) => throttleKey(redis, `known:${bucket}`);
  /** The buckets in which attempts in flight of this process hold places. */
  const inFlight = new Map<number, Pick<Unsettled, "buckets" | "at">>();
  /** Ended attempts that Redis may not know of, oldest first. Their places would become failures. */
  let unsettled: Unsettled[] = [];
  let settling = false;

  function run(script: string, keys: string[], now: number, args: (string | number)[]): Promise<unknown> {
    return redis.ask((client) => client.eval(script, keys.length, ...keys, now, WINDOW_MS, STALE_ATTEMPT_MS, ...args));
  }
  function onBuckets(script: string, id: number, buckets: Bucket[], now: number): Promise<unknown> {
    const keys = [list, ...buckets.map(({ bucket }) => key(bucket))];
    return run(script, keys, now, [`${server}:${id}`, ...buckets.flatMap(({ bucket, limit }) => [limit, bucket])]);
  }
  function allBuckets(): Promise<string[]> {
    return redis.ask((client) => client.zrange(list, "0", "-1"));
  }
  /** Releases the places of an earlier process of this server. */
  const releaseEarlier = once(async () => {
    for (const buckets of chunks(await allBuckets())) await run(RELEASE_ALL, buckets.map(key), 0, [`u:${server}:`]);
  });
  /** Ends attempts. The default time is when they took their places. */
  async function settle(script: string, ids: number[], now?: number): Promise<void> {
    for (const id of ids) {
      const places = inFlight.get(id);
      inFlight.delete(id);
      if (places) await settleOne({ script, id, buckets: places.buckets, at: now ?? places.at });
    }
  }
  /** Ends one attempt. Both scripts are idempotent. */
  async function settleOne(one: Unsettled): Promise<void> {
    try {
      await onBuckets(one.script, one.id, one.buckets, one.at);
    } catch (error) {
      unsettled.push(one);
      throw error;
    }
  }
  /**
   * Ends attempts from the time when Redis did not answer. They are sent before the next command, which does not wait.
   * A failure stops the round, and one round runs at a time, so that a Redis that refuses writes is not flooded.
   */
  async function retryUnsettled(now: number): Promise<void> {
    if (settling) return;
    settling = true;
    // Places that have left the window no longer count.
    unsettled = unsettled.filter(({ at }) => at > now - WINDOW_MS);
    let isAccepted = true;
    while (isAccepted && unsettled.length > 0) {
      const results = await Promise.allSettled(unsettled.splice(0, SETTLED_AT_ONCE).map(settleOne));
      isAccepted = results.every(({ status }) => status === "fulfilled");
    }
    settling = false;
  }

  return {
    async retryAfterMs(buckets, now) {
      await releaseEarlier();
      void retryUnsettled(now);
      const keys = buckets.map(({ bucket }) => key(bucket));
      const limits = buckets.map(({ limit }) => limit);
      return (await run(WAIT, keys, now, limits)) as number;
    },
    async reserve(buckets, now) {
      await releaseEarlier();
      void retryUnsettled(now);
      const id = randomInt(MAX_ATTEMPT_ID);
      const [outcome, retryAfterMs] = (await onBuckets(RESERVE, id, buckets, now).catch((error) => {
        if (!isRefused(error)) unsettled.push({ script: RELEASE, id, buckets, at: now });
        throw error;
      })) as Reply;
      if (outcome === "throttled") return { outcome, retryAfterMs };
      if (outcome === "wait") return { outcome };
      inFlight.set(id, { buckets, at: now });
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
      for (const buckets of chunks((await allBuckets()).filter(isPairBucket))) {
        const [failures, filled] = (await run(COUNT, buckets.map(key), now, [])) as [number, number];
        all.failures += failures;
        all.buckets += filled;
      }
      return all;
    },
    async clear(of) {
      if (of !== "all") {
        const keys = [list, ...[of.pair, of.address, of.codes, of.email, ...of.networks].map(key)];
        return (await run(CLEAR_ADDRESS, keys, 0, [of.pair, of.address, of.codes])) as number;
      }
      let places = 0;
      for (const buckets of chunks(await allBuckets())) {
        places += (await run(CLEAR, [list, ...buckets.map(key)], 0, buckets)) as number;
      }
      return places;
    },
  };
}

function* chunks(buckets: string[]): Generator<string[]> {
  for (let from = 0; from < buckets.length; from += KEYS_PER_SCRIPT) yield buckets.slice(from, from + KEYS_PER_SCRIPT);
}
