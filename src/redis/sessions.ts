import type { LoginNotes, LoginOrigin, SessionDevice, SessionStore, Supersession } from "../auth/sessions.ts";
import { describeError } from "../errors.ts";
import type { RedisConnection } from "./connection.ts";
import { throttleKey } from "./throttle.ts";

// `SET … GET` would need Redis 6.2. KEYS: the record, its credential and the origin of its login. ARGV: the new sid,
// its lifetime in seconds, the prefix of the supersession's key, the supersession or "", the credential or "", the
// origin or "". The supersession's key ends with the old sid, which only the script knows; its prefix has the slot of
// the record. While a cluster moves the slot, it refuses keys that are not in KEYS, and the supersession is lost. It is
// written first, so a full Redis still refuses the record. A deletion before the record would lift that refusal. The
// credential is written again in case Redis was flushed. A value of another type, e.g. a list, is replaced.
const REPLACE = `
local old = redis.pcall("GET", KEYS[1])
if type(old) == "table" then old = false end
local left = redis.call("PTTL", KEYS[1])
if old and left > 0 and ARGV[4] ~= "" then redis.pcall("SET", ARGV[3] .. old, ARGV[4], "PX", left) end
redis.call("SET", KEYS[1], ARGV[1], "EX", ARGV[2])
if ARGV[6] ~= "" then redis.call("SET", KEYS[3], ARGV[6], "EX", ARGV[2]) else redis.call("DEL", KEYS[3]) end
if ARGV[5] ~= "" then redis.call("SET", KEYS[2], ARGV[5]) end
return old and 1 or 0`;

// KEYS: the record and its credential. ARGV[1]: the credential that the record must have, or "" for any. Another server
// may still use the old password, and a node that comes back may hold an old record.
const CURRENT = `
if ARGV[1] ~= "" and redis.call("GET", KEYS[2]) ~= ARGV[1] then return false end
return redis.call("GET", KEYS[1])`;

// KEYS: the record, its credential, the origin of its login and its device. ARGV[1] is that of CURRENT.
const FIND = `
if ARGV[1] ~= "" and redis.call("GET", KEYS[2]) ~= ARGV[1] then return { false, 0, false, false } end
return {
  redis.call("GET", KEYS[1]), redis.call("PTTL", KEYS[1]), redis.call("GET", KEYS[3]),
  redis.call("HMGET", KEYS[4], "sid", "publicKey", "challengedAt", "boundFrom"),
}`;

// What begins a script on a session that is live. KEYS: the record, its credential and its device. ARGV: the sid that
// the record must still have, and the credential that it must have, or "" for any.
const IF_LIVE = `
if redis.call("GET", KEYS[1]) ~= ARGV[1] then return 0 end
if ARGV[2] ~= "" and redis.call("GET", KEYS[2]) ~= ARGV[2] then return 0 end`;

// ARGV[3]: the public key. It replaces the device of an earlier session, and never that of this one.
const REGISTER_DEVICE = `${IF_LIVE}
if redis.call("HGET", KEYS[3], "sid") == ARGV[1] then return 0 end
redis.call("DEL", KEYS[3])
redis.call("HSET", KEYS[3], "sid", ARGV[1], "publicKey", ARGV[3])
return 1`;

// ARGV: the time of the challenge, and that of the binding. Each challenge counts once: the next one must be newer.
const PROVE_DEVICE = `${IF_LIVE}
if redis.call("HGET", KEYS[3], "sid") ~= ARGV[1] then return 0 end
if tonumber(redis.call("HGET", KEYS[3], "challengedAt") or 0) >= tonumber(ARGV[3]) then return 0 end
redis.call("HSET", KEYS[3], "challengedAt", ARGV[3])
redis.call("HSETNX", KEYS[3], "boundFrom", ARGV[4])
return 1`;

// KEYS: the record, its credential and the origin of its login. ARGV: the sid that the record must still have, its
// lifetime in seconds, and the credential that it must have, or "" for any. A longer lifetime is kept.
const EXTEND_IF = `
if redis.call("GET", KEYS[1]) ~= ARGV[1] then return 0 end
if ARGV[3] ~= "" and redis.call("GET", KEYS[2]) ~= ARGV[3] then return 0 end
if redis.call("TTL", KEYS[1]) < tonumber(ARGV[2]) then
  redis.call("EXPIRE", KEYS[1], ARGV[2])
  redis.call("EXPIRE", KEYS[3], ARGV[2])
end
return 1`;

// ARGV[1]: the sid that the record must still have, so that a login in between stays alive.
const REMOVE_IF = `
if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end
return 0`;

// KEYS: the record and its credential. ARGV[1]: the credential that the record must have.
const BIND = `
if redis.call("GET", KEYS[2]) == ARGV[1] then return 0 end
redis.call("SET", KEYS[2], ARGV[1])
return redis.call("DEL", KEYS[1])`;

// Tests writing in a slot that logins need. A full Redis or a replica still answers reads.
// KEYS: a test key in the slot. ARGV: its lifetime in milliseconds.
const CHECK = `
redis.call("SET", KEYS[1], "", "PX", ARGV[1])
redis.call("GET", KEYS[1])
return redis.call("DEL", KEYS[1])`;

/** The lifetime of a test key. */
const CHECK_MS = 1000;

/** Writes the notes of a login. */
interface NotesWriter {
  /**
   * Writes those in Redis. Redis 6 refuses a plain write, but not that of a script, while it has too few replicas: the
   * login fails then, and the earlier session stays.
   */
  before(notes: LoginNotes): Promise<void>;
  /** Writes the others. The login does not fail with them. */
  after(notes: LoginNotes): Promise<void>;
}

export const NO_NOTES: NotesWriter = { before: async () => {}, after: async () => {} };

/**
 * Keeps sessions in Redis. Each user has one key, whose value is the sid and which expires with the token. Each
 * superseded session has another key, which expires with that session's token. The device of a user's session has one,
 * too, which names the sid: that of an earlier session does not count. `writer` writes the notes of a login.
 */
export function createRedisSessionStore(
  redis: RedisConnection,
  writer: NotesWriter,
  now: () => number = Date.now,
): SessionStore {
  const key = (userId: string) => `${redis.keyPrefix}session:${userId}`;
  const beside = (kind: string, userId: string) => `${redis.keyPrefix}${kind}:{${key(userId)}}`;
  const credentialKey = (userId: string) => beside("credential", userId);
  const originKey = (userId: string) => beside("origin", userId);
  const deviceKey = (userId: string) => beside("device", userId);
  const supersessions = (userId: string) => `${beside("superseded", userId)}:`;
  /** The credential that this process has bound each user to. */
  const bound = new Map<string, string>();

  return {
    async replace(userId, sid, ttlSeconds, origin, notes) {
      const supersession = origin ? JSON.stringify({ at: now(), by: origin } satisfies Supersession) : "";
      const keys = [key(userId), credentialKey(userId), originKey(userId)];
      const from = origin ? JSON.stringify(origin) : "";
      const args = [sid, ttlSeconds, supersessions(userId), supersession, bound.get(userId) ?? "", from];
      if (notes) await writer.before(notes);
      const wasLive = (await redis.ask((client) => client.eval(REPLACE, 3, ...keys, ...args))) === 1;
      const lostNotes = notes ? await writer.after(notes).then(() => null, describeError) : null;
      return { wasLive, lostNotes };
    },
    async extendIf(userId, sid, ttlSeconds) {
      const keys = [key(userId), credentialKey(userId), originKey(userId)];
      const args = [sid, ttlSeconds, bound.get(userId) ?? ""];
      return (await redis.ask((client) => client.eval(EXTEND_IF, 3, ...keys, ...args))) === 1;
    },
    current(userId) {
      const args = [key(userId), credentialKey(userId), bound.get(userId) ?? ""];
      return redis.ask((client) => client.eval(CURRENT, 2, ...args)) as Promise<string | null>;
    },
    async find(userId) {
      const keys = [key(userId), credentialKey(userId), originKey(userId), deviceKey(userId)];
      const found = await redis.ask((client) => client.eval(FIND, 4, ...keys, bound.get(userId) ?? ""));
      const [sid, ttlMs, origin, device] = found as [string | null, number, string | null, DeviceFields];
      if (sid === null) return null;
      return { sid, expiresAt: now() + ttlMs, origin: parseOrigin(origin), device: deviceOf(sid, device) };
    },
    async registerDevice(userId, sid, publicKey) {
      const keys = [key(userId), credentialKey(userId), deviceKey(userId)];
      const args = [sid, bound.get(userId) ?? "", publicKey];
      return (await redis.ask((client) => client.eval(REGISTER_DEVICE, 3, ...keys, ...args))) === 1;
    },
    async proveDevice(userId, sid, challengedAt, boundFrom) {
      const keys = [key(userId), credentialKey(userId), deviceKey(userId)];
      const args = [sid, bound.get(userId) ?? "", challengedAt, boundFrom];
      return (await redis.ask((client) => client.eval(PROVE_DEVICE, 3, ...keys, ...args))) === 1;
    },
    async supersession(userId, sid) {
      return parseSupersession(await redis.ask((client) => client.get(supersessions(userId) + sid)));
    },
    async removeIf(userId, sid) {
      return (await redis.ask((client) => client.eval(REMOVE_IF, 1, key(userId), sid))) === 1;
    },
    async remove(userId) {
      return (await redis.ask((client) => client.del(key(userId)))) === 1;
    },
    async bind(userId, credential) {
      const keys = [key(userId), credentialKey(userId)];
      const ended = (await redis.ask((client) => client.eval(BIND, 2, ...keys, credential))) === 1;
      bound.set(userId, credential);
      return ended;
    },
    async check(userId) {
      const keys = [beside("check", userId), throttleKey(redis, "check")];
      await Promise.all(keys.map((one) => redis.ask((client) => client.eval(CHECK, 1, one, CHECK_MS))));
    },
  };
}

/** The sid, public key, time of challenge and time of binding that Redis has. */
type DeviceFields = readonly (string | null)[];

/** The device of the session with this sid. */
function deviceOf(sid: string, [ofSid, publicKey, challengedAt, boundFrom]: DeviceFields): SessionDevice | null {
  if (ofSid !== sid || typeof publicKey !== "string") return null;
  return {
    publicKey,
    challengedAt: Number(challengedAt ?? 0),
    boundFrom: typeof boundFrom === "string" ? Number(boundFrom) : null,
  };
}

/** Parses a value of `replace`. Null for a value that another program wrote. */
function parseSupersession(text: string | null): Supersession | null {
  const { at, by } = parseObject(text);
  const origin = originOf(by);
  const isTime = typeof at === "number" && !Number.isNaN(new Date(at).getTime());
  return isTime && origin ? { at, by: origin } : null;
}

const parseOrigin = (text: string | null) => originOf(parseObject(text));

function originOf(value: unknown): LoginOrigin | null {
  const { network, userAgent } = (value ?? {}) as Record<string, unknown>;
  if (typeof network !== "string") return null;
  return { network, userAgent: typeof userAgent === "string" ? userAgent : null };
}

function parseObject(text: string | null): Record<string, unknown> {
  try {
    return (JSON.parse(text ?? "{}") ?? {}) as Record<string, unknown>;
  } catch {
    return {};
  }
}
