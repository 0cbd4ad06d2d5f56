import { createHttpLoop } from "./loop.ts";
import { type HttpServing, type ServingParts, startHttpThreads } from "./threads.ts";

/** Serves HTTP on as many event loops as `HTTP_THREADS` says. Throws `OperatorError` when the address cannot be had. */
export async function openServing(parts: ServingParts): Promise<HttpServing> {
  if (parts.settings.HTTP_THREADS > 1) return startHttpThreads(parts);
  const loop = createHttpLoop({ ...parts, events: parts.storage.events, loop: 1 });
  return {
    port: await loop.listen(parts.settings.PORT),
    snapshots: async () => [await loop.snapshot()],
    // What kills this loop kills the process.
    failed: new Promise(() => {}),
    stop: loop.stop,
  };
}
