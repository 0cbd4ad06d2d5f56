import { DAY_MS } from "../../lib/durations.ts";
import { isoTime } from "../../lib/iso-time.ts";
import type { SourceRecord } from "../intake/source-store.ts";
import type { Credential } from "../signature/secret.ts";

/** What is left to do of a rotation of secrets. The texts name secrets, and never have their values. */
interface RotationFinding {
  found: string;
  remedy: string;
}

/** When a source stops to accept an old secret. */
export interface RetirementSettings {
  /**
   * An old secret that has not verified a delivery for so long is retired: it is no longer accepted. Undefined: never.
   */
  retireMs?: number;
}

/** A source with what its sender may sign with, the newest first. Secrets and public keys are rotated apart. */
export interface RotatingSource extends RetirementSettings {
  name: string;
  secrets: readonly Credential[];
  keys?: readonly Credential[];
}

/** When a secret verified deliveries, in Unix milliseconds. */
type Usage = Pick<SourceRecord["secrets"][number], "firstUsedAt" | "lastUsedAt">;

const UNUSED_AFTER_DAYS = 7;
// A sender may sign with both secrets for a while.
const OVERLAP_MS = DAY_MS;

/** A retirement is announced so long before. */
export const NOTICE_MS = DAY_MS;

/**
 * Tells which old secrets of a source are retired, will be within a day or can be removed. Tells whether its sender
 * still uses an old one.
 *
 * - An old secret can be removed if a newer one verified a delivery 7 days or more after the old one last did. If the
 * old one never did, the 7 days begin with the newer one's first delivery.
 * - The sender still uses an old secret if it verified the last delivery, and the newest one has verified none, or none
 * in the day before that.
 */
export function rotationFindings(
  source: RotatingSource,
  record: SourceRecord | undefined,
  now: number,
): RotationFinding[] {
  const usageOf = (secret: Credential) => usageIn(record, secret);
  return oldSecretsOf(source).flatMap((old) => {
    const { secret, newer } = old;
    const isUsed = isStillUsed(secret, newer[0], record);
    const found = isUsed ? [stillUsed(source.name, old, usageOf(newer[0]), now)] : [];
    const at = source.retireMs === undefined ? Number.POSITIVE_INFINITY : retiresAt(old, source.retireMs, usageOf);
    if (at <= now) return [retired(source.name, secret, at), ...found];
    if (at - now <= NOTICE_MS) return [retiresSoon(source.name, old, isUsed, at)];
    const isReplaced = newer.some((other) => hasReplaced(usageOf(other), usageOf(secret)));
    return isReplaced ? [unused(source.name, secret, usageOf(secret), now)] : found;
  });
}

/** The old secret that the sender of a source still uses, by name. Null if it uses the newest one. */
export function oldSecretInUse(source: RotatingSource, record: SourceRecord | undefined): string | null {
  const found = oldSecretsOf(source).find(({ secret, newer: [newest] }) => isStillUsed(secret, newest, record));
  return found?.secret.name ?? null;
}

/** An old secret with those that replace it, the newest first. */
export interface OldSecret {
  secret: Credential;
  newer: readonly [Credential, ...Credential[]];
}

/** The secrets and public keys of a source except the newest of each. */
export function oldSecretsOf({ secrets, keys = [] }: Pick<RotatingSource, "secrets" | "keys">): OldSecret[] {
  return [secrets, keys].flatMap(([newest, ...old]) =>
    old.map((secret, index) => ({ secret, newer: [newest as Credential, ...old.slice(0, index)] })),
  );
}

/** When a secret, with its present value, verified deliveries. Undefined if it has verified none. */
export function usageIn(record: SourceRecord | undefined, { name, mark }: Credential): Usage | undefined {
  return record?.secrets.find((usage) => usage.name === name && usage.mark === mark);
}

/**
 * When an old secret is retired, in Unix milliseconds: `retireMs` after its last use. If it was never used, the time
 * counts from the first use of a newer one; without any, this is infinity.
 */
export function retiresAt(
  { secret, newer }: OldSecret,
  retireMs: number,
  usageOf: (secret: Credential) => Usage | undefined,
): number {
  const firstUses = newer.flatMap((one) => usageOf(one)?.firstUsedAt ?? []);
  return (usageOf(secret)?.lastUsedAt ?? Math.min(...firstUses)) + retireMs;
}

function isStillUsed(secret: Credential, newest: Credential, record: SourceRecord | undefined): boolean {
  const usage = usageIn(record, secret);
  return usage !== undefined && record?.lastSecret === secret.name && !overlaps(usageIn(record, newest), usage);
}

/** Whether a newer secret was in use for long enough after an old one. */
function hasReplaced(newer: Usage | undefined, old: Usage | undefined): boolean {
  if (newer === undefined) return false;
  return newer.lastUsedAt - (old?.lastUsedAt ?? newer.firstUsedAt) >= UNUSED_AFTER_DAYS * DAY_MS;
}

/** Whether the newest secret was in use shortly before the last use of an old one. */
function overlaps(newest: Usage | undefined, old: Usage): boolean {
  return newest !== undefined && old.lastUsedAt - newest.lastUsedAt <= OVERLAP_MS;
}

function retired(source: string, { name }: Credential, at: number): RotationFinding {
  return {
    found: `${source} has not accepted ${name} since ${isoTime(at)}: it is retired`,
    remedy: removal(source, name),
  };
}

function retiresSoon(source: string, { secret, newer }: OldSecret, isUsed: boolean, at: number): RotationFinding {
  return {
    found: `${source} will retire ${secret.name} at ${isoTime(at)}, unless its sender uses it before`,
    remedy: isUsed ? change(newer[0]) : removal(source, secret.name),
  };
}

function unused(source: string, { name }: Credential, usage: Usage | undefined, now: number): RotationFinding {
  const found =
    usage === undefined
      ? `the sender of ${source} has never signed with ${name}`
      : `the sender of ${source} last signed with ${name} ${ago(usage.lastUsedAt, now)}`;
  return { found, remedy: removal(source, name) };
}

function stillUsed(
  source: string,
  { secret, newer: [newest] }: OldSecret,
  usage: Usage | undefined,
  now: number,
): RotationFinding {
  const since =
    usage === undefined ? `never with ${newest.name}` : `last with ${newest.name} ${ago(usage.lastUsedAt, now)}`;
  return {
    found: `the sender of ${source} still signs with the old secret ${secret.name}, and ${since}`,
    remedy: change(newest),
  };
}

const removal = (source: string, name: string) => `remove ${name} from ${source}`;

const change = ({ name }: Credential) => `set the secret of ${name} at the sender`;

function ago(at: number, now: number): string {
  const days = Math.max(0, Math.floor((now - at) / DAY_MS));
  return days === 1 ? "1 day ago" : `${days} days ago`;
}
