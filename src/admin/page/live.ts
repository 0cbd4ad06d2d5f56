import { computed, signal } from "@preact/signals";
import type { Alert } from "./answers.ts";
import { readAlerts, readStatus } from "./requests.ts";
import { createResource, poll } from "./resource.ts";

const REFRESH_MS = 5000;

/** The state of the server and its alerts, for every view. */
export const status = createResource(readStatus);
export const alerts = createResource(readAlerts);

/** The present in Unix milliseconds, for relative times. */
export const now = signal(Date.now());

/** The number of jobs in the dead letters. */
export const deadLetters = computed(() => status.data.value?.routes.reduce((sum, { failed }) => sum + failed, 0) ?? 0);

const SEVERITIES = ["critical", "warning", "info"];

/** Sorts alerts, the most severe first. */
export const bySeverity = (a: Alert, b: Alert) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity);

/** The alerts that fire and are not silenced, the most severe first. */
export const firing = computed(() =>
  (alerts.data.value?.items ?? [])
    .filter(({ state, silencedUntil }) => state === "firing" && !silencedUntil)
    .sort(bySeverity),
);

/** Keeps status, alerts and the present fresh. Returns what ends it. */
export function keepLive(): () => void {
  const endPoll = poll(async () => {
    await Promise.all([status.reload(), alerts.reload()]);
  }, REFRESH_MS);
  const endClock = poll(async () => {
    now.value = Date.now();
  }, REFRESH_MS);
  return () => {
    endPoll();
    endClock();
  };
}
