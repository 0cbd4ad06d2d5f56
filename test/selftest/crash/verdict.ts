import type { EventDetail, JobDetail } from "../../../src/events/store.ts";
import { eventOf, payloadOf } from "./event.ts";

/** The routes of the test: one in any order, and one in the order of each sender. */
export const ROUTE_NAMES = ["free", "ordered"] as const;
export type RouteName = (typeof ROUTE_NAMES)[number];

/** What the senders and the targets have seen, by the ids of events. */
export interface Ledger {
  sent: Set<string>;
  acknowledged: Set<string>;
  /** The events that each target has answered with success. */
  delivered: Record<RouteName, Set<string>>;
  /** One line for each request that broke the order. */
  outOfOrder: string[];
  /** The sessions of the app: begun, to be ended by a login, and told to have ended. */
  sessions: Record<"begun" | "ended" | "told", Set<string>> & {
    /** Those that were live when the app was told. */
    toldEarly: string[];
  };
}

/** Every fault that was found, each with one line for each time. */
export interface Faults {
  /** Acknowledged events that are not stored. */
  lost: string[];
  /** Stored events that were never sent, or have another content, or are there twice. */
  unexpected: string[];
  /** Events and jobs that are not processed exactly once. */
  notSettledOnce: string[];
  outOfOrder: string[];
  /** Ends of sessions that the app was not told, or was told while they were live. */
  logouts: string[];
  /** Faults in the pages of the database. */
  damage: string[];
}

/** Judges the stored events. */
interface Judge {
  /** Judges one event. They come newest first. */
  add(event: EventDetail): void;
  /** The number of stored events, and the faults, those of the oldest events first. Called after the last event. */
  verdict(): { stored: number; faults: Faults };
}

/** Creates an empty ledger. */
export function createLedger(): Ledger {
  return {
    sent: new Set(),
    acknowledged: new Set(),
    delivered: { free: new Set(), ordered: new Set() },
    outOfOrder: [],
    sessions: { begun: new Set(), ended: new Set(), told: new Set(), toldEarly: [] },
  };
}

/** Creates the judge of a store, who compares it with the ledger. */
export function createJudge(ledger: Ledger): Judge {
  const stored = new Set<string>();
  const unexpected: string[] = [];
  const notSettledOnce: string[] = [];
  return {
    add(event) {
      const { eventId } = event;
      const unlike = contentFault(event, ledger, stored);
      if (unlike !== null) unexpected.push(`${eventId} ${unlike}`);
      notSettledOnce.push(...settlementFaults(event, ledger).map((fault) => `${eventId} ${fault}`));
      stored.add(eventId);
    },
    verdict() {
      const lost = [...ledger.acknowledged].filter((id) => !stored.has(id));
      const faults = { lost, unexpected: unexpected.reverse(), notSettledOnce: notSettledOnce.reverse() };
      return {
        stored: stored.size,
        faults: { ...faults, outOfOrder: ledger.outOfOrder, logouts: logoutFaults(ledger), damage: [] },
      };
    },
  };
}

/** The faults of the sessions of the app, once it must have been told of each end. */
export function logoutFaults({ sessions: { begun, told, toldEarly } }: Ledger): string[] {
  const missing = [...begun].filter((sid) => !told.has(sid));
  return [
    ...missing.map((sid) => `the app was not told of the end of ${sid}`),
    ...toldEarly.map((sid) => `the app was told of the end of ${sid}, which was live`),
  ];
}

/** Why this event should not be stored, as the end of a sentence; null if it should. */
function contentFault({ eventId, payload }: EventDetail, { sent }: Ledger, stored: ReadonlySet<string>): string | null {
  const event = eventOf(eventId);
  if (event === null || !sent.has(eventId)) return "was never sent";
  if (stored.has(eventId)) return "is stored twice";
  return Buffer.from(payload).toString("utf8") === payloadOf(event) ? null : "has another content";
}

/** Why the jobs of an event are not settled exactly once, each as the end of a sentence. */
function settlementFaults({ eventId, status, jobs }: EventDetail, { delivered }: Ledger): string[] {
  const names = jobs.map(({ route }) => route).sort();
  if (names.join() !== ROUTE_NAMES.join()) return [`has jobs for ${names.join(" and ") || "no route"}`];
  const faults = jobs.flatMap((job) => {
    const isDelivered = delivered[job.route as RouteName].has(eventId);
    const fault = jobFault(job) ?? (isDelivered ? null : "succeeded and did not reach its target");
    return fault === null ? [] : [`${job.route}: ${fault}`];
  });
  return faults.length === 0 && status !== "processed" ? [`is ${status}`] : faults;
}

/**
 * Why a job is not settled exactly once, or null. Every attempt before its success has failed, or its process was
 * killed.
 */
function jobFault({ status, attempts, history, lastError }: JobDetail): string | null {
  if (status !== "processed") return lastError === null ? `is ${status}` : `is ${status} (${lastError})`;
  const succeeded = history.filter(({ outcome }) => outcome === "succeeded").length;
  if (succeeded !== 1) return `succeeded ${succeeded} times`;
  if (history.at(-1)?.outcome !== "succeeded") return "was attempted again after its success";
  return history.length === attempts ? null : `has ${history.length} of its ${attempts} attempts`;
}
