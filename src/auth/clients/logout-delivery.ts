import { randomUUID } from "node:crypto";
import { describeError } from "../../errors.ts";
import { HOUR_MS, MINUTE_MS } from "../../lib/durations.ts";
import { sendRequest } from "../../lib/send-request.ts";
import type { Log } from "../../log.ts";
import type { SessionStore } from "../sessions.ts";
import { clientSid } from "./claims.ts";
import type { Client } from "./client.ts";
import type { SigningKeys } from "./signing-keys.ts";
import type { ClientStore, LogoutOutcome, Participation } from "./store.ts";

interface LogoutParts {
  store: ClientStore;
  sessions: Pick<SessionStore, "current">;
  keys: SigningKeys;
  issuer: string;
  log: Log;
  /** Unix milliseconds. */
  now(): number;
}

const TIMEOUT_MS = 10_000;
const TOKEN_SECONDS = 120;
const EVENT = "http://schemas.openid.net/event/backchannel-logout";

/** The waits after the first failed attempts. After them it is an hour each, for about a day. */
const DELAYS_MS = [1000, 5000, 30_000, 2 * MINUTE_MS, 10 * MINUTE_MS, 30 * MINUTE_MS];
const MAX_ATTEMPTS = DELAYS_MS.length + 24;

/**
 * Creates what tells apps the end of sessions (OpenID Connect Back-Channel Logout 1.0). Each is told again and again,
 * until the app takes it, refuses it with 400, or a day is over.
 */
export function createLogoutDelivery(parts: LogoutParts) {
  const { store, sessions, log, now } = parts;
  const stopping = new AbortController();

  async function tell(client: Client, url: string, { userId, sid }: Participation): Promise<void> {
    const iat = Math.floor(now() / 1000);
    const claims = {
      iss: parts.issuer,
      aud: client.name,
      sub: userId,
      sid: clientSid(sid, client.name),
      iat,
      exp: iat + TOKEN_SECONDS,
      jti: randomUUID(),
      events: { [EVENT]: {} },
    };
    const token = await parts.keys.sign(claims, client.algorithm, "logout+jwt");
    const { status } = await sendRequest({
      url,
      isLocal: false,
      timeoutMs: TIMEOUT_MS,
      signal: stopping.signal,
      body: String(new URLSearchParams({ logout_token: token })),
      headers: { "content-type": "application/x-www-form-urlencoded", "user-agent": "authserve" },
    });
    if (status === 400) throw new RefusedLogout("the app refused the logout with 400");
    if (status < 200 || status > 299) throw new Error(`the answer was ${status}`);
  }

  /** Tells one app of one session, and writes what came of it. */
  async function deliver(participation: Participation, client: Client | undefined): Promise<void> {
    const url = client?.logout.backchannel ?? null;
    if (client === undefined || url === null) return store.settleLogout(participation, { to: "done" }, now());
    try {
      await tell(client, url, participation);
    } catch (error) {
      if (stopping.signal.aborted) return;
      const outcome = outcomeOf(participation, error);
      const line = { event: "logout_not_delivered" as const, client: client.name, error: describeError(error) };
      const next = outcome.to === "failed" ? "and is told no more" : "and is told again";
      log.warn(line, `${client.name} was not told of the end of a session, ${next}`);
      return store.settleLogout(participation, outcome, now());
    }
    await store.settleLogout(participation, { to: "done" }, now());
    log.info({ event: "logout_delivered", client: client.name }, `${client.name} was told of the end of a session`);
  }

  function outcomeOf({ attempts }: Participation, failure: unknown): LogoutOutcome {
    const error = describeError(failure);
    if (failure instanceof RefusedLogout || attempts + 1 >= MAX_ATTEMPTS) return { to: "failed", error };
    return { to: "again", dueAt: now() + (DELAYS_MS[attempts] ?? HOUR_MS), error };
  }

  return {
    /**
     * Tells what is due. `isOnDuty` is asked only if something is. Rejects if a store does not answer: the
     * participations stay.
     */
    async run(clients: readonly Client[], isOnDuty: () => Promise<boolean>): Promise<void> {
      const open = await store.participations();
      const live = new Map<string, string | null>();
      for (const userId of new Set(open.map((one) => one.userId))) live.set(userId, await sessions.current(userId));
      const due = open.filter(({ userId, sid, dueAt }) => live.get(userId) !== sid && dueAt <= now());
      if (due.length === 0 || !(await isOnDuty())) return;
      const keepers = clients.filter(({ offline }) => offline === "keep").map(({ name }) => name);
      for (const sid of new Set(due.filter(({ attempts }) => attempts === 0).map((one) => one.sid)))
        await store.removeOfSession(sid, keepers);
      const byClient = Map.groupBy(due, ({ client }) => client);
      await Promise.all(
        [...byClient].map(async ([name, ended]) => {
          const client = clients.find((one) => one.name === name);
          for (const participation of ended) await deliver(participation, client);
        }),
      );
    },
    /** Ends what is being sent. It is sent again later. */
    stop: () => stopping.abort(),
  };
}

/** The app says that it will never take this logout. */
class RefusedLogout extends Error {}
