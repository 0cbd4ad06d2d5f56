import { setTimeout as delay } from "node:timers/promises";
import { sourcesOf } from "../config/sources.ts";
import { type Repetition, repeat } from "../lib/repeat.ts";
import { sendRequest } from "../lib/send-request.ts";
import { trustSystemAuthorities } from "../lib/system-authorities.ts";
import type { Stores } from "../stores.ts";
import type { SendToApi } from "../webhook/catch-up/adapter.ts";
import { catchUpOf } from "../webhook/catch-up/adapters.ts";
import { createApi } from "../webhook/catch-up/api.ts";
import { isDue } from "../webhook/catch-up/decide.ts";
import { type CatchUpRun, runCatchUp } from "../webhook/catch-up/run.ts";
import { providerOf } from "../webhook/providers/index.ts";
import type { Source } from "../webhook/source.ts";
import type { Wiring } from "./configuration.ts";
import type { Part } from "./parts.ts";

const TIMEOUT_MS = 30_000;
// A page may have a hundred events with their bodies.
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/** What a run of a source works with; null if the source does not catch up. `signal` ends it. */
export function catchUpRunOf(
  source: Source,
  { events, catchUps, now }: Pick<Stores, "events" | "catchUps" | "now">,
  signal: AbortSignal,
): CatchUpRun | null {
  const { name, catchUp: settings, preset } = source;
  const adapter = catchUpOf(source);
  if (settings === undefined || adapter === undefined) return null;
  const send = apiOf([settings.origin], now, signal);
  const repeatsForMs = (providerOf(preset)?.facts?.repeatsForSeconds?.is ?? 0) * 1000;
  return { source: name, settings, adapter, repeatsForMs, store: catchUps, events, send, now };
}

/** Sends to the API at these origins. */
export function apiOf(origins: readonly string[], now: () => number, signal: AbortSignal): SendToApi {
  if (origins.some((origin) => origin.startsWith("https:"))) trustSystemAuthorities();
  return createApi({
    origins,
    send: ({ url, method, headers, body }) =>
      sendRequest({
        url,
        isLocal: false,
        timeoutMs: TIMEOUT_MS,
        signal,
        maxBytes: MAX_ANSWER_BYTES,
        headers: { "user-agent": "authserve", ...headers },
        ...(method && { method }),
        ...(body !== undefined && { body }),
      }),
    wait: (ms) => delay(ms, undefined, { signal }),
    now,
  });
}

const LOOK_EVERY_MS = 30_000;
// The server must be reachable first: what is asked for comes at once.
const FIRST_LOOK_MS = 5000;

/** Creates the catch-up of the sources that have `every`. `isOnDuty` tells whether this server alone does it now. */
export function openCatchUp({ settings, config, stores, log }: Wiring, isOnDuty: () => Promise<boolean>): Part {
  const stopping = new AbortController();
  let looking: Repetition | undefined;
  let isFirst = true;

  async function look(): Promise<void> {
    const sources = sourcesOf(settings, config.current).filter(({ catchUp }) => catchUp?.everyMs != null);
    if (sources.length === 0 || !(await isOnDuty())) return;
    const wasFirst = isFirst;
    isFirst = false;
    await Promise.all(sources.map((source) => catchUp(source, wasFirst)));
  }

  async function catchUp(source: Source, isAfterStart: boolean): Promise<void> {
    const everyMs = source.catchUp?.everyMs ?? 0;
    const state = await stores.catchUps.state(source.name);
    if (!isDue(state, { everyMs, isAfterStart, now: stores.now() })) return;
    const run = catchUpRunOf(source, stores, stopping.signal);
    if (run === null) return;
    const goesOn = async () => !stopping.signal.aborted && (await isOnDuty());
    const { error, ...counts } = await runCatchUp({ ...run, goesOn });
    const line = { source: source.name, ...counts };
    if (error === null) log.info({ event: "catch_up_done", ...line }, `${source.name} has caught up`);
    else if (!stopping.signal.aborted)
      log.warn({ event: "catch_up_error", ...line, error }, `${source.name} has not caught up; it goes on later`);
  }

  return {
    start() {
      looking = repeat(look, {
        firstMs: FIRST_LOOK_MS,
        everyMs: LOOK_EVERY_MS,
        onError: (error) => log.warn({ event: "catch_up_error", error }, "no source could catch up; retrying"),
      });
    },
    async stop() {
      stopping.abort();
      await looking?.stop();
    },
  };
}
