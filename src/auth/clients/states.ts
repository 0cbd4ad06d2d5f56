import { DAY_MS } from "../../lib/durations.ts";
import type { SessionStore } from "../sessions.ts";
import type { Client } from "./client.ts";
import type { ClientStore, FailedLogout, Participation } from "./store.ts";

/** What is known of an app and the sessions that it takes part in. */
export interface ClientState {
  name: string;
  /** Whether it takes part in the session that is open. */
  isOpen: boolean;
  /** The ended sessions that it is still to be told of. */
  waiting: readonly Participation[];
  /** Those that it could not be told of, the newest first. */
  failed: readonly FailedLogout[];
}

interface StateStores {
  clients: Pick<ClientStore, "participations" | "failedLogouts">;
  sessions: Pick<SessionStore, "current">;
}

/** Reads what is known of apps. Throws `store_unavailable`. */
export async function readClientStates(
  clients: readonly Pick<Client, "name">[],
  { clients: store, sessions }: StateStores,
): Promise<ClientState[]> {
  if (clients.length === 0) return [];
  const [open, failed] = await Promise.all([store.participations(), store.failedLogouts()]);
  const live = await readLive(open, sessions);
  const isLive = (one: Participation) => live.get(one.userId) === one.sid;
  return clients.map(({ name }) => {
    const own = open.filter(({ client }) => client === name);
    return {
      name,
      isOpen: own.some(isLive),
      waiting: own.filter((one) => !isLive(one)),
      failed: failed.filter(({ client }) => client === name),
    };
  });
}

/** The live session of each user who takes part in something. */
export async function readLive(
  open: readonly Participation[],
  sessions: Pick<SessionStore, "current">,
): Promise<Map<string, string | null>> {
  const live = new Map<string, string | null>();
  for (const userId of new Set(open.map((one) => one.userId))) live.set(userId, await sessions.current(userId));
  return live;
}

/** The ends of sessions that an app was not told. Of those that failed for good, the last day counts. */
export function logoutsOf({ name, waiting, failed }: ClientState, now: number) {
  const recent = failed.filter(({ failedAt }) => now - failedAt < DAY_MS);
  const errors = [...recent, ...waiting].flatMap(({ error }) => error ?? []);
  return { client: name, waiting: waiting.length, failed: recent.length, errors };
}
