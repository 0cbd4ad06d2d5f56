import { describeError } from "../../../src/errors.ts";
import { sendRequest } from "../../../src/lib/send-request.ts";
import { EMAIL, REDIRECT_URI } from "./configuration.ts";
import type { ServerProcess } from "./server.ts";
import type { Ledger } from "./verdict.ts";

const TIMEOUT_MS = 30_000;

/** An app that somebody logs in to, through the server. */
interface App {
  /** Logs in to the server, which ends the session before, and from there to the app. */
  logIn(server: ServerProcess): Promise<void>;
  /** Logs in to the server only. */
  endSession(server: ServerProcess): Promise<void>;
  /** Whether it was told of the end of each session that it took part in. */
  isTold(): boolean;
}

/** What a request to log in takes. */
interface Credentials {
  password: string;
  appSecret: string;
}

/** Creates the app. It writes its sessions into the ledger. */
export function createApp({ sessions }: Ledger, { password, appSecret }: Credentials): App {
  const { begun, ended, told } = sessions;

  /** Sends a request. Null if the server was killed before it answered. Throws an `OperatorError` if it refuses it. */
  async function ask(server: ServerProcess, path: string, { cookie = "", form }: { cookie?: string; form?: Form }) {
    const url = (await server.ready()) + path;
    const body = form && { body: String(new URLSearchParams(form)) };
    const headers = { cookie, ...(form && { "content-type": "application/x-www-form-urlencoded" }) };
    const answer = await sendRequest({ url, isLocal: true, timeoutMs: TIMEOUT_MS, headers, ...body }).catch(
      (error: unknown) => {
        if (server.isKilled()) return null;
        throw server.fault(`did not answer a login (${describeError(error)})`);
      },
    );
    if (answer !== null && answer.status >= 400)
      throw server.fault(`answered ${path.split("?", 1)} with ${answer.status}`);
    return answer;
  }

  /** Logs in to the server. Returns the cookie, or null if it was killed meanwhile. */
  async function openSession(server: ServerProcess): Promise<string | null> {
    // The server may end it and be killed before it answers.
    for (const sid of begun) ended.add(sid);
    const answer = await ask(server, "/login", { form: { email: EMAIL, password } });
    return answer?.headers["set-cookie"]?.map((one) => one.split(";", 1)).join("; ") ?? null;
  }

  return {
    async logIn(server) {
      const cookie = await openSession(server);
      if (cookie === null) return;
      const common = { client_id: "app", redirect_uri: REDIRECT_URI };
      const request = new URLSearchParams({ ...common, response_type: "code", scope: "openid" });
      const led = await ask(server, `/oauth/authorize?${request}`, { cookie });
      if (led === null) return;
      const code = new URL(led.headers.location ?? "", REDIRECT_URI).searchParams.get("code") ?? "";
      const form = { ...common, grant_type: "authorization_code", code, client_secret: appSecret };
      const tokens = await ask(server, "/oauth/token", { form });
      if (tokens !== null) begun.add(sidIn((JSON.parse(tokens.text) as { id_token: string }).id_token));
    },
    async endSession(server) {
      await openSession(server);
    },
    isTold: () => [...begun].every((sid) => told.has(sid)),
  };
}

type Form = Record<string, string>;

/** The session that a token names. */
export function sidIn(token: string): string {
  const [, payload = ""] = token.split(".");
  return String((JSON.parse(Buffer.from(payload, "base64url").toString("utf8")) as { sid: unknown }).sid);
}
