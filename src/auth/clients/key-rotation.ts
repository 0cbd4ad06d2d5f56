import { DAY_MS, HOUR_MS } from "../../lib/durations.ts";
import type { StoredSigningKey } from "./store.ts";

/** How long apps may keep the published keys. */
export const KEYS_MAX_AGE_SECONDS = 3600;
/** A key is published for so long before it signs, so that every app has it. */
export const PUBLISHED_BEFORE_MS = 2 * KEYS_MAX_AGE_SECONDS * 1000;
/** A key that has signed for so long gets a next one. */
export const ROTATE_AFTER_MS = 90 * DAY_MS;
/** A key that signs no more stays published for so long, for tokens that it has signed. */
const KEPT_AFTER_MS = DAY_MS + HOUR_MS;

/** What to do about a key that cannot be read. */
export const UNREADABLE_REMEDY =
  "add the file of that key to ENCRYPTION_KEYS, or if it is lost, run authserve keys rotate --at-once";

/** What a key does at a time. */
export interface PlannedKey {
  key: StoredSigningKey;
  /** `waits` is published and signs later; `kept` is published and signs no more. */
  state: "waits" | "signs" | "kept" | "unreadable";
  /** When another one takes over; null if there is none yet. */
  signsUntil: number | null;
  /** From when on it is removed; null as `signsUntil`. */
  keptUntil: number | null;
}

/**
 * What each key of an algorithm does at a time. The newest whose time has come signs. Keys that cannot be read sign
 * nothing, and take over from none.
 */
export function planOf(all: readonly StoredSigningKey[], algorithm: string, now: number): PlannedKey[] {
  const own = all.filter((key) => key.algorithm === algorithm);
  const isReadable = ({ fault }: StoredSigningKey) => fault === null;
  const current = own.findLastIndex((key) => isReadable(key) && key.signsFrom <= now);
  return own.map((key, index) => {
    const later = own.slice(index + 1).filter(isReadable);
    const signsUntil = later.length === 0 ? null : Math.min(...later.map(({ signsFrom }) => signsFrom));
    const readable = index === current ? "signs" : index > current ? "waits" : "kept";
    return {
      key,
      state: isReadable(key) ? readable : "unreadable",
      signsUntil,
      keptUntil: signsUntil === null ? null : signsUntil + KEPT_AFTER_MS,
    };
  });
}
