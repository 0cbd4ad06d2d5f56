import { type ReadonlySignal, signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { ApiError, isAbort } from "./api.ts";

/** Data of the server. After a failure the last data stays. `loadedAt` is in Unix milliseconds. */
export interface Resource<T> {
  data: ReadonlySignal<T | undefined>;
  loadedAt: ReadonlySignal<number | null>;
  failure: ReadonlySignal<ApiError | null>;
  /** Loads again, and gives up a load that runs. */
  reload(): Promise<void>;
  stop(): void;
}

/** The resources that have data and could not be refreshed. */
export const stale = signal<ReadonlySet<Resource<unknown>>>(new Set());

function setStale(resource: Resource<unknown>, isStale: boolean): void {
  if (stale.value.has(resource) === isStale) return;
  const next = new Set(stale.value);
  if (isStale) next.add(resource);
  else next.delete(resource);
  stale.value = next;
}

/** Creates a resource. Nothing is loaded before the first `reload`. */
export function createResource<T>(load: (signal: AbortSignal) => Promise<T>): Resource<T> {
  const data = signal<T | undefined>(undefined);
  const loadedAt = signal<number | null>(null);
  const failure = signal<ApiError | null>(null);
  let running: AbortController | null = null;
  const resource: Resource<T> = {
    data,
    loadedAt,
    failure,
    async reload() {
      running?.abort();
      const own = new AbortController();
      running = own;
      try {
        const loaded = await load(own.signal);
        if (own.signal.aborted) return;
        data.value = loaded;
        loadedAt.value = Date.now();
        failure.value = null;
        setStale(resource, false);
      } catch (error) {
        if (own.signal.aborted || isAbort(error)) return;
        if (!(error instanceof ApiError)) throw error;
        failure.value = error;
        setStale(resource, data.value !== undefined);
      }
    },
    stop() {
      running?.abort();
      setStale(resource, false);
    },
  };
  return resource;
}

/** Runs something now and then, while the page is visible. Returns what ends it. */
export function poll(run: () => Promise<void>, everyMs: number): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isRunning = false;
  let isOver = false;
  const turn = async () => {
    if (isRunning || isOver || document.visibilityState !== "visible") return;
    clearTimeout(timer);
    isRunning = true;
    await run().finally(() => {
      isRunning = false;
    });
    if (!isOver) timer = setTimeout(turn, everyMs);
  };
  document.addEventListener("visibilitychange", turn);
  void turn();
  return () => {
    isOver = true;
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", turn);
  };
}

/** A resource of a view. Another `key` begins anew. It is loaded once, or with `everyMs` again and again. */
export function useResource<T>(
  key: string,
  load: (signal: AbortSignal) => Promise<T>,
  everyMs: number | null = null,
): Resource<T> {
  // The key stands for all that `load` uses.
  const resource = useMemo(() => createResource(load), [key]);
  useEffect(() => {
    if (everyMs === null) void resource.reload();
    const endPoll = everyMs === null ? () => {} : poll(resource.reload, everyMs);
    return () => {
      endPoll();
      resource.stop();
    };
  }, [resource, everyMs]);
  return resource;
}
