import assert from "node:assert/strict";
import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { text as readText } from "node:stream/consumers";
import { CompactSign, exportJWK, generateKeyPair } from "jose";
import { checkAnswer } from "./check-answer.ts";
import { EMAIL, PASSWORD } from "./credentials.ts";
import type { Server } from "./server.ts";
import { PAGE } from "./visitor.ts";

type Headers = Record<string, string>;

/** What a device signs: by default what a browser does. */
interface Signed {
  jti?: unknown;
  alg?: string;
  typ?: string;
  /** The key that signs; that of the device by default. */
  by?: CryptoKey | Uint8Array;
}

/** A key, and what a browser sends of it. */
export async function newKey(alg = "ES256") {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return { alg, privateKey, jwk: { ...(await exportJWK(publicKey)) } };
}

/** What `Secure-Session-Response` has. With `jwk` it registers the key. */
export async function proofOf(
  key: Awaited<ReturnType<typeof newKey>>,
  signed: Signed,
  jwk: object | null = null,
): Promise<string> {
  const { jti, alg = key.alg, typ = "dbsc+jwt", by = key.privateKey } = signed;
  const payload = new TextEncoder().encode(JSON.stringify({ jti }));
  return new CompactSign(payload).setProtectedHeader({ alg, typ, ...(jwk && { jwk }) }).sign(by);
}

/** A browser with Device Bound Session Credentials, before a server that takes this machine for its proxy. */
export class DeviceBrowser {
  readonly cookies = new Map<string, string>();
  /** The server that gets its requests: one of several that share sessions. */
  server: Server;
  key = newKey();
  /** The sid of the session that it has bound. */
  sid = "";
  /** The challenge of the last login, if it had one. */
  offered: string | undefined;

  constructor(server: Server) {
    this.server = server;
  }

  /** Sends a request with the cookies, and keeps those of the answer. */
  async send(method: string, path: string, headers: Headers = {}, body = "") {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const { host } = new URL(this.server.env.PUBLIC_URL ?? this.server.url);
    const sent = { host, "x-forwarded-proto": "https", "content-length": String(Buffer.byteLength(body)) };
    const all = { ...sent, ...(cookie === "" ? {} : { cookie }), ...headers };
    const request = httpRequest(this.server.url + path, { method, headers: all });
    request.end(body);
    const [response] = (await once(request, "response")) as [IncomingMessage];
    const text = await readText(response);
    const contentType = response.headers["content-type"] ?? "";
    await checkAnswer(this.server.url, { method, target: path, status: response.statusCode ?? 0, contentType, text });
    const setCookies = response.headers["set-cookie"] ?? [];
    for (const line of setCookies) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === "") this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    const json = contentType.includes("json") ? (JSON.parse(text) as Record<string, unknown>) : {};
    return { status: response.statusCode ?? 0, headers: response.headers, setCookies, text, json };
  }

  /** Opens a page. */
  open = (path: string, headers: Headers = {}) => this.send("GET", path, { ...PAGE, ...headers });

  /** Sends a form of a page. */
  submit(path: string, fields: Record<string, string>, headers: Headers = {}) {
    const form = { "content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "same-origin" };
    return this.send("POST", path, { ...PAGE, ...form, ...headers }, new URLSearchParams(fields).toString());
  }

  /** Logs in on the page. */
  async logIn(rd = "/", { email, password } = { email: EMAIL, password: PASSWORD }) {
    const answer = await this.submit("/login", { email, password, rd });
    assert.equal(answer.status, 303, answer.text);
    this.offered = /challenge="([^"]+)"/.exec(String(answer.headers["secure-session-registration"] ?? ""))?.[1];
    return answer;
  }

  /** Registers the key with the challenge of the last login, or with what is given. */
  async register(proof?: string) {
    const key = await this.key;
    const answer = proof ?? (await proofOf(key, { jti: this.offered }, key.jwk));
    const registered = await this.send("POST", "/auth/bound/register", { "secure-session-response": `"${answer}"` });
    if (registered.status === 200) this.sid = String(registered.json.session_identifier);
    return registered;
  }

  /** Asks for a refresh, with what is given. */
  refresh(proof?: string, sid = this.sid) {
    const answer: Headers = proof === undefined ? {} : { "secure-session-response": `"${proof}"` };
    return this.send("POST", "/auth/bound/refresh", { "sec-secure-session-id": `"${sid}"`, ...answer });
  }

  /** A new challenge. */
  async challenge(): Promise<string> {
    const asked = await this.refresh();
    assert.equal(asked.status, 403, asked.text);
    return challengeIn(asked);
  }

  /** Proves the device. */
  async prove() {
    const proved = await this.refresh(await proofOf(await this.key, { jti: await this.challenge() }));
    assert.equal(proved.status, 200, proved.text);
    return proved;
  }

  /** Logs in, and binds the session to the device. */
  async logInBound() {
    await this.logIn();
    assert.equal((await this.register()).status, 200);
    await this.prove();
  }
}

/** The challenge in an answer. */
export function challengeIn({ headers }: { headers: IncomingMessage["headers"] }): string {
  const [, challenge = ""] = /^"([^"]+)";id="[^"]+"$/.exec(String(headers["secure-session-challenge"])) ?? [];
  assert.notEqual(challenge, "");
  return challenge;
}
