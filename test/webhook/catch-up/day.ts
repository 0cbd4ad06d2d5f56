import { localStores } from "../../../src/sqlite/stores.ts";
import { createApi } from "../../../src/webhook/catch-up/api.ts";
import { type CatchUpRun, runCatchUp } from "../../../src/webhook/catch-up/run.ts";
import type { ApiRequest, CatchUpAdapter, CatchUpSettings } from "../../../src/webhook/provider/catch-up.ts";
import { tempDatabase } from "../../helpers/database.ts";
import { newEvent } from "../../helpers/events.ts";
import { TOKEN } from "../../helpers/stand-ins/providers.ts";
import {
  createDeliveryLog,
  type DeliveryLog,
  type ProviderEvent,
  type StandInAnswer,
} from "../../helpers/stand-ins/stand-in.ts";
import type { Cleanup } from "../../helpers/temp-dir.ts";

export const START = 1_800_000_000_000;
export const HOUR = 3_600_000;

interface SenderOptions {
  name: string;
  adapter: CatchUpAdapter;
  origin: string;
  hook: string | null;
  api: (log: DeliveryLog, now: () => number) => (request: ApiRequest) => Promise<StandInAnswer>;
  idOf?: (number: string) => string;
  bodyOf?: (id: string, at: number) => string;
  repeatsAfterMs?: readonly number[];
  settings?: Partial<CatchUpSettings>;
}

/** A receiver with a real store, by a clock that the test moves. It is up, or it is not. */
export function openReceiver(context: Cleanup) {
  const { events, catchUps } = localStores(tempDatabase(context).database);
  const clock = { now: START };
  const state = { isUp: true };
  const now = () => clock.now;

  async function receive(source: string, { id, type, body }: ProviderEvent): Promise<boolean> {
    if (!state.isUp) return false;
    await events.append([newEvent({ source, eventId: id, type, payload: Buffer.from(body), receivedAt: clock.now })]);
    return true;
  }

  /** A stand-in for a provider that sends to a source of the receiver, and the catch-up with it. */
  function sender({
    name,
    adapter,
    origin,
    hook,
    api,
    idOf = (number) => `${name}_${number}`,
    bodyOf = () => "{}",
    repeatsAfterMs,
    settings = {},
  }: SenderOptions) {
    const log = createDeliveryLog({
      deliver: (event) => receive(name, event),
      now,
      ...(repeatsAfterMs && { repeatsAfterMs }),
    });
    const answer = api(log, now);
    const requests: ApiRequest[] = [];
    const waits: number[] = [];
    const send = createApi({
      origins: [origin],
      now,
      async send(request) {
        requests.push(request);
        return { ...(await answer(request)), isCut: false };
      },
      async wait(ms) {
        waits.push(ms);
        clock.now += ms;
      },
    });
    const run = (changes: Partial<CatchUpRun> = {}) =>
      runCatchUp({
        source: name,
        adapter,
        settings: {
          ...{
            origin,
            hook,
            token: TOKEN,
            app: null,
            everyMs: null,
            windowMs: 72 * HOUR,
            maxPerRun: 500,
            routes: false,
          },
          ...settings,
        },
        repeatsForMs: (repeatsAfterMs ?? []).reduce((sum, ms) => sum + ms, 0),
        store: catchUps,
        events,
        send,
        now,
        ...changes,
      });
    let count = 0;
    return {
      log,
      requests,
      waits,
      run,
      async emit(): Promise<ProviderEvent> {
        count++;
        const id = idOf(String(count).padStart(4, "0"));
        const event = { id, at: clock.now, type: "push", body: bodyOf(id, clock.now) };
        await log.emit(event);
        return event;
      },
      /** How many of the provider's events are stored: each once, or not at all. */
      async stored(): Promise<number> {
        const found = await Promise.all(log.events.map(({ id }) => events.get(id, name)));
        return found.filter(({ length }) => length === 1).length;
      },
    };
  }

  return { clock, state, events, catchUps, sender };
}
