import { Agent, request } from "node:http";
import { join } from "node:path";
import { runWrk } from "./load.ts";
import { EMAIL, PASSWORD, type Target } from "./targets.ts";

export interface GetResult {
  perSecond: number;
  p99Ms: number;
  /** Responses other than 2xx, and broken connections. */
  errors: number;
}

const UNIT_MS: Record<string, number> = { us: 0.001, ms: 1, s: 1000 };

/** Requests one path repeatedly with wrk, in one thread, and parses its output. */
export async function playGet(
  url: string,
  headers: readonly string[],
  connections: number,
  seconds: number,
): Promise<GetResult> {
  const sent = headers.flatMap((header) => ["-H", header]);
  const args = ["-t1", `-c${connections}`, `-d${seconds}`, "--latency", ...sent, url];
  const out = await runWrk(args);
  const rate = /^Requests\/sec:\s+([\d.]+)/m.exec(out)?.[1];
  const [, p99, unit = ""] = /^\s+99%\s+([\d.]+)(us|ms|s)/m.exec(out) ?? [];
  if (rate === undefined || p99 === undefined) throw new Error(`wrk gave no result for ${url}: ${out}`);
  const refused = Number(/Non-2xx or 3xx responses: (\d+)/.exec(out)?.[1] ?? 0);
  const broken = /Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)/.exec(out)?.slice(1) ?? [];
  const errors = broken.reduce((sum, count) => sum + Number(count), refused);
  return { perSecond: Number(rate), p99Ms: Number(p99) * (UNIT_MS[unit] ?? Number.NaN), errors };
}

/** Logs in repeatedly with wrk, with `inFlight` logins at once. Returns logins per second. Throws if any is refused. */
export async function playLogins(target: Target, inFlight: number, seconds: number): Promise<number> {
  const script = join(import.meta.dirname, "logins.lua");
  const args = ["-t1", `-c${inFlight}`, `-d${seconds}`, "--timeout", "10s", "-s", script, `${target.url}/auth/login`];
  const env = { ...process.env, LOGIN_BODY: JSON.stringify({ email: EMAIL, password: PASSWORD }) };
  const out = await runWrk(args, env);
  const [logins = 0, refused = 0, durationUs = 0] = (/^LOGINS (\d+) (\d+) (\d+)$/m.exec(out)?.slice(1) ?? []).map(
    Number,
  );
  if (durationUs === 0 || refused > 0) throw new Error(`${refused} logins of ${target.name} were refused: ${out}`);
  return (logins * 1e6) / durationUs;
}

interface Client {
  /** Sends a login. Resolves with its status, body, and time from the first byte sent to the last byte received. */
  login(credentials?: object, headers?: Record<string, string>): Promise<{ status: number; text: string; ms: number }>;
  /** The time of one `/auth/me`. */
  me(token: string): Promise<{ status: number; ms: number }>;
  close(): void;
}

/** A client with keep-alive connections. It is too slow to measure the rate of reads. */
export function openClient(target: Target): Client {
  const agent = new Agent({ keepAlive: true });

  function send(method: string, path: string, headers: Record<string, string>, body: string) {
    return new Promise<{ status: number; text: string; ms: number }>((resolve, reject) => {
      const startedAt = performance.now();
      const sent = request(target.url + path, { method, agent, headers }, (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (chunk: string) => {
          text += chunk;
        });
        response.on("end", () =>
          resolve({ status: response.statusCode ?? 0, text, ms: performance.now() - startedAt }),
        );
      });
      sent.on("error", reject);
      sent.end(body);
    });
  }

  return {
    login(credentials = {}, headers = {}) {
      const body = JSON.stringify({ email: EMAIL, password: PASSWORD, ...credentials });
      const own = { "Content-Type": "application/json", "Content-Length": String(Buffer.byteLength(body)) };
      return send("POST", "/auth/login", { ...own, ...headers }, body);
    },
    me: (token) => send("GET", "/auth/me", { Authorization: `Bearer ${token}` }, ""),
    close: () => agent.destroy(),
  };
}

/** Logs in and returns the token. */
export async function tokenOf(target: Target): Promise<string> {
  const client = openClient(target);
  try {
    const { status, text } = await client.login();
    if (status !== 200) throw new Error(`${target.name} answered a login with ${status}: ${text}`);
    return (JSON.parse(text) as { accessToken: string }).accessToken;
  } finally {
    client.close();
  }
}

/** The value below which a share of the values lies. */
export function percentile(values: number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
