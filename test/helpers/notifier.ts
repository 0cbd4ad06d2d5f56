import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { AlertRecord } from "../../src/alerts/alert.ts";
import { NotifierError } from "../../src/alerts/notifiers/notifier-error.ts";
import { createNotify, type Notifier } from "../../src/alerts/notifiers.ts";
import type { Message } from "../../src/alerts/store.ts";
import { alertRecord } from "../contract/alert-store.ts";

export const NOW = 1_800_000_000_000;
export const NEVER = new AbortController().signal;
export const SENDER = { instance: "web-1", url: "https://auth.example", page: "https://auth.example/admin/" };
export const ENVIRONMENT = { PATH: process.env.PATH, GREETING: "hello" };

/** Sends for the server {@link SENDER}. */
export const notify = createNotify(SENDER, () => ENVIRONMENT);

export const firing = alertRecord();
export const over = alertRecord({ id: "b2", summary: "it was silent", resolvedAt: NOW + 1 });
export const critical = alertRecord({ id: "c3", name: "AuthserveDiskLow", labels: {}, summary: "5 MiB are free" });
export const info = alertRecord({ id: "d4", name: "AuthserveOldSecret", summary: "an old secret" });

export const message = (...alerts: AlertRecord[]): Message => ({ alerts, at: NOW });

/** Why a notifier did not take a message. Nothing of it has the word hunter2. */
export async function refusalBy(notifier: Notifier, signal = NEVER, sent = message(firing)): Promise<NotifierError> {
  const error = await notify(notifier, sent, signal).then(
    () => assert.fail("it was taken"),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof NotifierError);
  assert.doesNotMatch(String(error.stack) + String(error.cause), /hunter2/);
  return error;
}

/** Lets the test end the time of each request and program. */
export function mockTimeout({ mock }: TestContext): { end(): void; limitsMs: number[] } {
  const controller = new AbortController();
  const limitsMs: number[] = [];
  mock.method(AbortSignal, "timeout", (ms: number) => {
    limitsMs.push(ms);
    return controller.signal;
  });
  return { end: () => controller.abort(new DOMException("timed out", "TimeoutError")), limitsMs };
}
