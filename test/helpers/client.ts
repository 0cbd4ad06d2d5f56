import assert from "node:assert/strict";
import { checkAnswer } from "./check-answer.ts";
import { EMAIL, PASSWORD } from "./credentials.ts";
import { signature } from "./sign.ts";

interface Target {
  url: string;
}

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  json: Record<string, unknown>;
}

type Body = string | Buffer | object;
type HeaderValues = Record<string, string>;

/**
 * Sends one request, reads the response and checks it with the server's description. `json` is empty if the body is not
 * JSON.
 */
export async function ask(server: Target, path: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(server.url + path, init);
  const text = await response.text();
  await checkAnswer(server.url, { ...seen(response), method: init.method ?? "GET", target: path, text });
  let json: Record<string, unknown> = {};
  try {
    json = JSON.parse(text) as Record<string, unknown>;
  } catch {}
  return { status: response.status, headers: response.headers, text, json };
}

const seen = ({ status, headers }: Response) => ({ status, contentType: headers.get("content-type") ?? "" });

/** The parts that an answer of `/readyz` names as unavailable. */
export function notReady({ json }: Pick<Answer, "json">): string[] {
  const parts = Object.entries(json.parts as Record<string, string>);
  return parts.filter(([, state]) => state !== "ok").map(([name]) => name);
}

/** Posts a value as JSON; text and bytes are sent unchanged. */
export function post(server: Target, path: string, body: Body, headers: HeaderValues = {}): Promise<Answer> {
  const sent = typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  return ask(server, path, { method: "POST", body: sent, headers: { "Content-Type": "application/json", ...headers } });
}

export function tryLogin(server: Target, credentials: object = {}, headers: HeaderValues = {}): Promise<Answer> {
  return post(server, "/auth/login", { email: EMAIL, password: PASSWORD, ...credentials }, headers);
}

/** Logs in and returns the token. */
export async function logIn(server: Target, credentials: object = {}, headers: HeaderValues = {}): Promise<string> {
  const answer = await tryLogin(server, credentials, headers);
  assert.equal(answer.status, 200, answer.text);
  return String(answer.json.accessToken);
}

export function me(server: Target, token: string): Promise<Answer> {
  return ask(server, "/auth/me", { headers: { Authorization: `Bearer ${token}` } });
}

export function logOut(server: Target, token: string): Promise<Answer> {
  return ask(server, "/auth/logout", { method: "POST", headers: { Authorization: `Bearer ${token}` } });
}

/** Delivers a webhook, signed in `X-Signature`. */
export function deliver(server: Target, body: Body, headers: HeaderValues = {}): Promise<Answer> {
  const sent = typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  return post(server, "/webhook", sent, { "X-Signature": signature(sent), ...headers });
}

/** An event-shaped payload. */
export function event(id: string, more: object = {}): { id: string; type: string } {
  return { id, type: "order.paid", ...more };
}

/** Asserts that a response is a problem with this code and all members of a problem. */
export function assertProblem(answer: Answer, status: number, code: string, detail?: string): void {
  assert.equal(answer.status, status, answer.text);
  assert.equal(answer.headers.get("content-type"), "application/problem+json");
  assert.equal(answer.json.status, status);
  assert.equal(answer.json.code, code);
  assert.equal(typeof answer.json.type, "string");
  assert.equal(typeof answer.json.title, "string");
  assert.equal(answer.json.requestId, answer.headers.get("x-request-id"));
  if (detail === undefined) assert.equal(typeof answer.json.detail, "string");
  else assert.equal(answer.json.detail, detail);
}
