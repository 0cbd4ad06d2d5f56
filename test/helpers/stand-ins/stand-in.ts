import type { ApiRequest } from "../../../src/webhook/provider/catch-up.ts";

/** What a stand-in answers to a request to its API. */
export interface StandInAnswer {
  status: number;
  headers: Record<string, string>;
  text: string;
}

/** An event of a stand-in for a provider. */
export interface ProviderEvent {
  id: string;
  at: number;
  type: string;
  body: string;
}

/** An attempt of a stand-in to deliver an event. */
interface ProviderAttempt {
  number: number;
  event: ProviderEvent;
  at: number;
  isDelivered: boolean;
  isRepeat: boolean;
}

/**
 * A stand-in for a provider: written from its public description, not the provider itself. `deliver` gets each attempt
 * and returns whether it arrived. `repeatsAfterMs` are the times after which it repeats by itself.
 */
interface StandInOptions {
  deliver(event: ProviderEvent): boolean | Promise<boolean>;
  now(): number;
  repeatsAfterMs?: readonly number[];
}

/** The log of a stand-in, and its own repeats. Each provider adds its API. */
export function createDeliveryLog({ deliver, now, repeatsAfterMs = [] }: StandInOptions) {
  const events: ProviderEvent[] = [];
  const attempts: ProviderAttempt[] = [];
  const due: { at: number; event: ProviderEvent; step: number }[] = [];

  async function attempt(event: ProviderEvent, isRepeat: boolean): Promise<boolean> {
    const isDelivered = await deliver(event);
    attempts.push({ number: attempts.length + 1, event, at: now(), isDelivered, isRepeat });
    return isDelivered;
  }

  async function attemptStep(event: ProviderEvent, step: number): Promise<void> {
    const wait = repeatsAfterMs[step];
    if (!(await attempt(event, step > 0)) && wait !== undefined) due.push({ at: now() + wait, event, step: step + 1 });
  }

  return {
    events,
    attempts,
    async emit(event: ProviderEvent): Promise<void> {
      events.push(event);
      await attemptStep(event, 0);
    },
    /** Has an event that it does not try to deliver. */
    hold: (event: ProviderEvent) => void events.push(event),
    untried: () => events.filter((event) => !attempts.some((one) => one.event === event)),
    /** Repeats what is due by now. */
    async tick(): Promise<void> {
      for (const one of due.filter(({ at }) => at <= now())) {
        due.splice(due.indexOf(one), 1);
        await attemptStep(one.event, one.step);
      }
    },
    redeliver: (event: ProviderEvent) => attempt(event, true),
    /** Whether it still repeats the event by itself. */
    isPending: (event: ProviderEvent) => due.some((one) => one.event === event),
    hasArrived: (event: ProviderEvent) => attempts.some((one) => one.event === event && one.isDelivered),
  };
}

export type DeliveryLog = ReturnType<typeof createDeliveryLog>;

export function answerJson(content: unknown, status = 200, headers: Record<string, string> = {}): StandInAnswer {
  return { status, headers: { "content-type": "application/json", ...headers }, text: JSON.stringify(content) };
}

export const NOT_FOUND = answerJson({ message: "Not Found" }, 404);

export const isPost = ({ method, body }: ApiRequest) => method === "POST" || body !== undefined;

/** Whether a request has this value of a header. */
export const hasHeader = ({ headers = {} }: ApiRequest, name: string, value: string) => headers[name] === value;
