import { isoTime } from "../../lib/iso-time.ts";
import { type Repetition, repeat } from "../../lib/repeat.ts";
import type { Log } from "../../log.ts";
import type { SourceRecord, SourceStore } from "../intake/source-store.ts";
import { createTimeBound } from "../intake/source-times.ts";
import type { Credential } from "../signature/secret.ts";
import { NOTICE_MS, type OldSecret, oldSecretsOf, type RotatingSource, retiresAt, usageIn } from "./rotation.ts";

/** Retires the old secrets of sources with `retire`, and announces it in the log. */
export interface Retirement {
  /**
   * Whether a secret that has verified a delivery is still accepted. If so, this is a use of it. Throws
   * `store_unavailable` if the store must tell and does not answer.
   */
  accepts(source: RotatingSource, secret: Credential): Promise<boolean>;
  start(): void;
  stop(): Promise<void>;
}

interface RetirementOptions {
  store: Pick<SourceStore, "list">;
  /** The sources in use. */
  sources: () => readonly RotatingSource[];
  log: Log;
  now: () => number;
  /** Milliseconds of a clock that is never set. */
  monotonic?: () => number;
}

const ANNOUNCE_EVERY_MS = 60_000;

// Refused deliveries do not make the server read the store more often.
const READ_EVERY_MS = 5000;

/**
 * Creates the retirement. It remembers what this server saw, because the store has a use a moment later. Before it
 * refuses a delivery it reads the store, because another server may have seen the secret.
 */
export function createRetirement(options: RetirementOptions): Retirement {
  const { store, sources, log, now, monotonic = () => performance.now() } = options;
  const bound = createTimeBound(now);
  let records = new Map<string, SourceRecord>();
  /** When this server last saw each old secret. */
  const lastSeen = new Map<string, number>();
  /** The last read for each source. */
  const reads = new Map<string, { at: number; askedAt: number; done: Promise<void> }>();
  const announced = new Map<string, "used" | "soon" | "retired">();
  let announcing: Repetition | undefined;

  async function read(): Promise<void> {
    records = new Map((await store.list()).map((record) => [record.source, record]));
  }

  /** Reads the store, unless it was read for this source since a time and less than 5 s ago. */
  function readFor(source: string, since: number): Promise<void> {
    const askedAt = monotonic();
    const last = reads.get(source);
    if (last !== undefined && last.at >= since && askedAt - last.askedAt < READ_EVERY_MS) return last.done;
    const done = read();
    reads.set(source, { at: now(), askedAt, done });
    done.catch(() => reads.delete(source));
    return done;
  }

  function usageOf(source: string, secret: Credential) {
    const key = keyOf(source, secret);
    const stored = usageIn(records.get(source), secret);
    const seenAt = lastSeen.get(key);
    if (stored === undefined && seenAt === undefined) return undefined;
    const lastUsedAt = Math.max(
      stored === undefined ? 0 : bound(`stored ${key}`, stored.lastUsedAt),
      seenAt === undefined ? 0 : bound(`seen ${key}`, seenAt),
    );
    return { firstUsedAt: Math.min(stored?.firstUsedAt ?? lastUsedAt, lastUsedAt), lastUsedAt };
  }

  const retirementOf = (source: string, old: OldSecret, retireMs: number) =>
    retiresAt(old, retireMs, (secret) => usageOf(source, secret));

  function announce(source: string, secret: Credential, at: number): void {
    const key = keyOf(source, secret);
    const state = at <= now() ? "retired" : at - now() <= NOTICE_MS ? "soon" : "used";
    if (announced.get(key) === state) return;
    announced.set(key, state);
    if (state === "used") return;
    const fields = { source, secret: secret.name, at: isoTime(at) };
    if (state === "soon") log.warn({ event: "secret_retires_soon", ...fields }, "an old secret will not be accepted");
    else log.info({ event: "secret_retired", ...fields }, "an old secret is no longer accepted");
  }

  async function announceAll(): Promise<void> {
    const retiring = sources().flatMap(({ name, retireMs, ...source }) =>
      retireMs === undefined ? [] : oldSecretsOf(source).map((old) => ({ name, retireMs, old })),
    );
    if (retiring.length === 0) return;
    await read();
    for (const { name, retireMs, old } of retiring) announce(name, old.secret, retirementOf(name, old, retireMs));
  }

  return {
    async accepts(source, { name }) {
      const { secrets, keys, retireMs } = source;
      if (retireMs === undefined || name === secrets[0]?.name || name === keys?.[0]?.name) return true;
      const old = oldSecretsOf(source).find(({ secret }) => secret.name === name);
      if (old === undefined) return true;
      const known = retirementOf(source.name, old, retireMs);
      if (known === Number.POSITIVE_INFINITY) await readFor(source.name, 0);
      else if (known <= now()) await readFor(source.name, known);
      const at = retirementOf(source.name, old, retireMs);
      if (at <= now()) {
        announce(source.name, old.secret, at);
        return false;
      }
      lastSeen.set(keyOf(source.name, old.secret), now());
      return true;
    },
    start() {
      announcing = repeat(announceAll, {
        firstMs: 0,
        everyMs: ANNOUNCE_EVERY_MS,
        onError: (error) => log.warn({ event: "retirement_check_error", error }, "the use of secrets was not read"),
      });
    },
    stop: async () => announcing?.stop(),
  };
}

/** A changed value is another secret. Only the name may contain spaces. */
function keyOf(source: string, { name, mark }: Credential): string {
  return `${source} ${mark} ${name}`;
}
