import { setTimeout as delay } from "node:timers/promises";
import { sourcesOf } from "../config/sources.ts";
import { describeError, fieldError } from "../errors.ts";
import { type Repetition, repeat } from "../lib/repeat.ts";
import { sendRequest } from "../lib/send-request.ts";
import type { ServerContext } from "../operations/operation.ts";
import type { Stores } from "../stores.ts";
import { catchUpOf } from "../webhook/catch-up/adapters.ts";
import { createApi, MAX_ANSWER_BYTES } from "../webhook/catch-up/api.ts";
import { isDue } from "../webhook/catch-up/decide.ts";
import { type CatchUpResult, type CatchUpRun, runCatchUp } from "../webhook/catch-up/run.ts";
import type { SendToApi } from "../webhook/provider/catch-up.ts";
import { repeatsAllForSeconds } from "../webhook/provider.ts";
import { providerOf } from "../webhook/providers/index.ts";
import type { Source } from "../webhook/source.ts";
import type { Wiring } from "./configuration.ts";
import type { Part } from "./parts.ts";

const TIMEOUT_MS = 30_000;

/** What a run of a source works with; null if the source does not catch up. `signal` ends it. */
export function catchUpRunOf(
  source: Source,
  { events, catchUps, now }: Pick<Stores, "events" | "catchUps" | "now">,
  signal: AbortSignal,
): CatchUpRun | null {
  const { name, catchUp: settings, preset, redact } = source;
  const adapter = catchUpOf(source);
  if (settings === undefined || adapter === undefined) return null;
  const send = apiOf([settings.origin], now, signal);
  const repeatsForMs = (repeatsAllForSeconds(providerOf(preset)?.facts) ?? 0) * 1000;
  return {
    source: name,
    ...(redact && { redact }),
    settings,
    adapter,
    repeatsForMs,
    store: catchUps,
    events,
    send,
    now,
  };
}

/** Sends to the API at these origins. */
export function apiOf(origins: readonly string[], now: () => number, signal: AbortSignal): SendToApi {
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

type RunOptions = Pick<CatchUpRun, "since" | "isAll"> & { goesOn(): Promise<boolean> };

const LOOK_EVERY_MS = 30_000;
// The server must be reachable first: what is asked for comes at once.
const FIRST_LOOK_MS = 5000;

/** The catch-ups of a server. */
export type CatchUps = Part & ServerContext["catchUps"];

/** Creates the catch-ups: at the interval of `every`, and when asked. `isOnDuty`: whether this server alone does it. */
export function openCatchUps({ settings, config, stores, log }: Wiring, isOnDuty: () => Promise<boolean>): CatchUps {
  const stopping = new AbortController();
  const running = new Map<string, Promise<void>>();
  const results = new Map<string, CatchUpResult>();
  let looking: Repetition | undefined;
  let isFirst = true;
  const configured = () => sourcesOf(settings, config.current).filter(({ catchUp }) => catchUp !== undefined);

  async function look(): Promise<void> {
    const sources = configured().filter(({ catchUp }) => catchUp?.everyMs != null);
    if (sources.length === 0 || !(await isOnDuty())) return;
    const isAfterStart = isFirst;
    isFirst = false;
    await Promise.all(
      sources.map(async (source) => {
        const everyMs = source.catchUp?.everyMs ?? 0;
        const state = await stores.catchUps.state(source.name);
        // A slow provider must not keep the other sources from their turn.
        if (isDue(state, { everyMs, isAfterStart, now: stores.now() })) beginRun(source, { goesOn: isOnDuty });
      }),
    );
  }

  const failed = (error: string) => log.warn({ event: "catch_up_error", error }, "no source could catch up; retrying");

  /** Begins a run unless one of this source goes on. */
  function beginRun(source: Source, how: RunOptions): void {
    if (running.has(source.name)) return;
    const run = runNow(source, how)
      .catch((error) => failed(describeError(error)))
      .finally(() => running.delete(source.name));
    running.set(source.name, run);
  }

  async function runNow(source: Source, { goesOn, ...how }: RunOptions): Promise<void> {
    const run = catchUpRunOf(source, stores, stopping.signal);
    if (run === null) return;
    const result = await runCatchUp({
      ...run,
      ...how,
      goesOn: async () => !stopping.signal.aborted && (await goesOn()),
    });
    results.set(source.name, result);
    const { error, refusal, ...counts } = result;
    const line = { source: source.name, ...counts, ...(refusal !== null && { refusal }) };
    if (error === null) log.info({ event: "catch_up_done", ...line }, `${source.name} has caught up`);
    else if (!stopping.signal.aborted)
      log.warn({ event: "catch_up_error", ...line, error }, `${source.name} has not caught up; it goes on later`);
  }

  return {
    start() {
      looking = repeat(look, { firstMs: FIRST_LOOK_MS, everyMs: LOOK_EVERY_MS, onError: failed });
    },
    begin(name, options) {
      const source = configured().find((one) => one.name === name);
      if (source === undefined) throw fieldError("source", "must be a source with catchUp");
      if (running.has(name)) return false;
      // Somebody asked this server, whoever has the duty.
      beginRun(source, { ...options, goesOn: async () => true });
      return true;
    },
    isRunning: (name) => running.has(name),
    lastResult: (name) => results.get(name) ?? null,
    async stop() {
      stopping.abort();
      await looking?.stop();
      await Promise.allSettled(running.values());
    },
  };
}
