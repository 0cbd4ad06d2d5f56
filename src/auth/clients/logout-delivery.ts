import { randomUUID } from "node:crypto";
import { describeError } from "../../errors.ts";
import { HOUR_MS, MINUTE_MS } from "../../lib/durations.ts";
import { sendRequest } from "../../lib/send-request.ts";
import type { Log } from "../../log.ts";
import type { SessionStore } from "../sessions.ts";
import { clientSid } from "./claims.ts";
import type { Client } from "./client.ts";
import type { SigningKeys } from "./signing-keys.ts";
import { readLive } from "./states.ts";
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
  /** Names of apps that are being told. */
  const busy = new Map<string, Promise<void>>();

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

  /** Tells one app of one session, and writes what came of it. Returns whether the app took it. */
  async function deliver(participation: Participation, client: Client | undefined): Promise<boolean> {
    const url = client?.logout.backchannel ?? null;
    if (client === undefined || url === null) {
      await store.settleLogout(participation, { to: "done" }, now());
      return false;
    }
    try {
      await tell(client, url, participation);
    } catch (error) {
      if (stopping.signal.aborted) return false;
      const outcome = outcomeOf(participation, error);
      const line = { event: "logout_not_delivered" as const, client: client.name, error: describeError(error) };
      const next = outcome.to === "failed" ? "and is told no more" : "and is told again";
      log.warn(line, `${client.name} was not told of the end of a session, ${next}`);
      await store.settleLogout(participation, outcome, now());
      return false;
    }
    await store.settleLogout(participation, { to: "done" }, now());
    log.info({ event: "logout_delivered", client: client.name }, `${client.name} was told of the end of a session`);
    return true;
  }

  /** Tells one app of what is due, and, once it answers again, of all that waits for another attempt. */
  async function tellAll(ended: readonly Participation[], client: Client | undefined): Promise<void> {
    const [due, waiting] = [ended.filter(({ dueAt }) => dueAt <= now()), ended.filter(({ dueAt }) => dueAt > now())];
    let isBack = false;
    for (const one of due) if (await deliver(one, client)) isBack = true;
    if (isBack) for (const one of waiting) await deliver(one, client);
  }

  function outcomeOf({ attempts }: Participation, failure: unknown): LogoutOutcome {
    const error = describeError(failure);
    if (failure instanceof RefusedLogout || attempts + 1 >= MAX_ATTEMPTS) return { to: "failed", error };
    return { to: "again", dueAt: now() + (DELAYS_MS[attempts] ?? HOUR_MS), error };
  }

  return {
    /**
     * Tells what is due. An app that does not answer keeps no other one waiting. `isOnDuty` is asked only if something
     * is due. Rejects if a store does not answer: the participations stay.
     */
    async run(clients: readonly Client[], isOnDuty: () => Promise<boolean>): Promise<void> {
      // What is read may be older than what those have settled meanwhile.
      const told = new Set(busy.keys());
      const open = await store.participations();
      const live = await readLive(open, sessions);
      const ended = open.filter(({ client, userId, sid }) => !told.has(client) && live.get(userId) !== sid);
      const due = ended.filter(({ dueAt }) => dueAt <= now());
      if (due.length === 0 || !(await isOnDuty())) return;
      const keepers = clients.filter(({ offline }) => offline === "keep").map(({ name }) => name);
      for (const sid of new Set(due.filter(({ attempts }) => attempts === 0).map((one) => one.sid)))
        await store.removeOfSession(sid, keepers);
      for (const name of new Set(due.map(({ client }) => client))) {
        const client = clients.find((one) => one.name === name);
        const own = ended.filter((one) => one.client === name);
        // If the store does not answer, the next run tells again.
        const telling = tellAll(own, client)
          .catch(() => {})
          .finally(() => busy.delete(name));
        busy.set(name, telling);
      }
    },
    /** Ends what is being sent. It is sent again later. */
    async stop(): Promise<void> {
      stopping.abort();
      await Promise.all(busy.values());
    },
  };
}

/** The app says that it will never take this logout. */
class RefusedLogout extends Error {}
