import type { Source } from "./source.ts";
import type { SourceRecord } from "./source-store.ts";

/** What is left to do of a rotation of secrets. The texts name secrets, and never have their values. */
export interface RotationFinding {
  found: string;
  remedy: string;
}

type Usage = SourceRecord["secrets"][number];

const DAY_MS = 24 * 3_600_000;
const UNUSED_AFTER_DAYS = 7;
// A sender may sign with both secrets for a while.
const OVERLAP_MS = DAY_MS;

/**
 * Tells which old secrets of a source can be removed, and whether its sender still uses an old one.
 *
 * - An old secret can be removed if a newer one verified a delivery 7 days or more after the old one last did. If the
 *   old one never did, the 7 days begin with the newer one's first delivery.
 * - The sender still uses an old secret if it verified the last delivery, and the newest one has verified none, or none
 *   in the day before that.
 */
export function rotationFindings(
  { name: source, secrets }: Pick<Source, "name" | "secrets">,
  record: SourceRecord | undefined,
  now: number,
): RotationFinding[] {
  const usages = new Map(record?.secrets.map((usage) => [usage.name, usage]));
  const [newest, ...old] = secrets.map(({ name }) => ({ name, usage: usages.get(name) }));
  if (newest === undefined) return [];
  return old.flatMap(({ name, usage }, index) => {
    const newer = [newest, ...old.slice(0, index)];
    if (newer.some((other) => hasReplaced(other.usage, usage))) return unused(source, name, usage, now);
    return isStillUsed(name, usage, newest.usage, record) ? stillUsed(source, name, newest, now) : [];
  });
}

/** The old secret that the sender of a source still uses, by name. Null if it uses the newest one. */
export function oldSecretInUse({ secrets }: Pick<Source, "secrets">, record: SourceRecord | undefined): string | null {
  const usages = new Map(record?.secrets.map((usage) => [usage.name, usage]));
  const [newest, ...old] = secrets.map(({ name }) => ({ name, usage: usages.get(name) }));
  return old.find(({ name, usage }) => isStillUsed(name, usage, newest?.usage, record))?.name ?? null;
}

function isStillUsed(
  name: string,
  usage: Usage | undefined,
  newest: Usage | undefined,
  record: SourceRecord | undefined,
): boolean {
  return usage !== undefined && record?.lastSecret === name && !overlaps(newest, usage);
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

function unused(source: string, name: string, usage: Usage | undefined, now: number): RotationFinding {
  const found =
    usage === undefined
      ? `the sender of ${source} has never signed with ${name}`
      : `the sender of ${source} last signed with ${name} ${ago(usage.lastUsedAt, now)}`;
  // Usage is recorded by name: it cannot show that the value of a secret was changed.
  return { found, remedy: `remove ${name} from ${source}, unless its value is newer than ${UNUSED_AFTER_DAYS} days` };
}

function stillUsed(
  source: string,
  name: string,
  newest: { name: string; usage: Usage | undefined },
  now: number,
): RotationFinding {
  const since =
    newest.usage === undefined
      ? `never with ${newest.name}`
      : `last with ${newest.name} ${ago(newest.usage.lastUsedAt, now)}`;
  return {
    found: `the sender of ${source} still signs with the old secret ${name}, and ${since}`,
    remedy: `set the secret of ${newest.name} at the sender`,
  };
}

function ago(at: number, now: number): string {
  const days = Math.max(0, Math.floor((now - at) / DAY_MS));
  return days === 1 ? "1 day ago" : `${days} days ago`;
}
