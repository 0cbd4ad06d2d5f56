import { setTimeout as delay } from "node:timers/promises";
import { EMAIL, PASSWORD } from "../helpers/credentials.ts";
import { signature } from "../helpers/sign.ts";

// A server that hangs answers nothing. The client then sends the same again, to another one.
const ANSWER_WITHIN_MS = 4000;

async function request(url: string, init: RequestInit): Promise<{ status: number; text: string }> {
  try {
    const response = await fetch(url, { ...init, signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
    return { status: response.status, text: await response.text() };
  } catch {
    return { status: 0, text: "" };
  }
}

/**
 * Senders that deliver all the time, each the events of a key of its own, the next one when the one before is
 * acknowledged.
 */
interface Senders {
  /** The acknowledged ids, in order of their numbers. */
  acknowledged: string[];
  /** How often a delivery was sent, and how often it was not acknowledged. */
  counts: { sent: number; repeated: number; longestPauseMs: number };
  stop(): Promise<void>;
}

export function startSenders(url: string, count: number): Senders {
  const acknowledged: string[] = [];
  const counts = { sent: 0, repeated: 0, longestPauseMs: 0 };
  let isOver = false;
  let lastAt = performance.now();

  async function send(key: number): Promise<void> {
    for (let number = 0; !isOver; number++) {
      const id = `${key}:${number}`;
      const body = JSON.stringify({ id, type: "order.paid", key: `${key}` });
      const headers = { "Content-Type": "application/json", "X-Signature": signature(body) };
      for (let tries = 0; !isOver; tries++) {
        counts.sent++;
        if (tries > 0) counts.repeated++;
        const { status } = await request(`${url}/webhook`, { method: "POST", body, headers });
        if (status === 200) {
          acknowledged.push(id);
          const now = performance.now();
          counts.longestPauseMs = Math.max(counts.longestPauseMs, now - lastAt);
          lastAt = now;
          break;
        }
        await delay(50);
      }
      await delay(Math.random() * 40);
    }
  }

  const senders = Array.from({ length: count }, (_, key) => send(key));
  return {
    acknowledged,
    counts,
    async stop() {
      isOver = true;
      await Promise.all(senders);
    },
  };
}

/** A user that logs in again and again. Each login must end the session before it, everywhere. */
interface Logins {
  /** What was seen that must not be. */
  problems: string[];
  counts: { logins: number; checks: number; unanswered: number };
  /**
   * Ends the logins. Returns all tokens, the last one is that of the last successful login; null if it is not known to
   * be the last.
   */
  stop(): Promise<{ tokens: string[]; last: string | null }>;
}

export function startLogins(url: string): Logins {
  const problems: string[] = [];
  const counts = { logins: 0, checks: 0, unanswered: 0 };
  const tokens: string[] = [];
  let last: string | null = null;
  let isOver = false;

  const statusOf = async (token: string) => {
    const { status } = await request(`${url}/auth/me`, { headers: { Authorization: `Bearer ${token}` } });
    counts.checks++;
    // The proxy, or a server without its database.
    if (status === 0 || status >= 500) counts.unanswered++;
    return status;
  };

  async function checkTokens(before: string | null, last: string): Promise<void> {
    // Each of a few requests goes to any server.
    for (let n = 0; n < 3; n++) {
      if (before !== null && (await statusOf(before)) === 200) problems.push("a superseded token was accepted");
      if ((await statusOf(last)) === 401) problems.push("the token of the last login was refused");
    }
  }

  async function run(): Promise<void> {
    while (!isOver) {
      const body = JSON.stringify({ email: EMAIL, password: PASSWORD });
      const before = last;
      last = null;
      const headers = { "Content-Type": "application/json" };
      const { status, text } = await request(`${url}/auth/login`, { method: "POST", body, headers });
      if (status === 200) {
        last = String((JSON.parse(text) as { accessToken: string }).accessToken);
        tokens.push(last);
        counts.logins++;
        await checkTokens(before, last);
      } else if (status !== 0 && status < 500) problems.push(`a login was answered ${status}: ${text}`);
      await delay(100);
    }
  }

  const running = run();
  return {
    problems,
    counts,
    async stop() {
      isOver = true;
      await running;
      return { tokens, last };
    },
  };
}
