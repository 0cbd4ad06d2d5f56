import type { IncomingMessage } from "node:http";
import type { Endpoint } from "../http/endpoint.ts";
import type { InstanceFile } from "../http/instance.ts";
import { type OnUnknownPath, pathOf } from "../http/router.ts";
import { isoTime } from "../lib/iso-time.ts";
import { createRateLimit } from "../lib/rate-limit.ts";
import type { RecentRefusals } from "../webhook/intake/refusals.ts";
import type { Source } from "../webhook/source.ts";
import { strayFinder } from "../webhook/strays.ts";

// A scanner asks for thousands of paths. The rest of them is not looked at.
const LOOKS_PER_SECOND = 20;
const WRITE_AFTER_MS = 1000;
const WRITTEN = 10;
const EXPECTED = 20;

interface Strays {
  /** Begins anew with other endpoints. Returns what is called for a request that none of them takes. */
  watch(sources: readonly Source[], endpoints: readonly Endpoint[]): OnUnknownPath;
  /** Takes requests to the path of a source that somebody is about to add for deliveries. */
  expect(path: string): void;
  stop(): void;
}

/** Keeps requests to mistyped paths of sources among the refusals, and tells commands the newest. */
export function createStrays(refusals: RecentRefusals, instance: Pick<InstanceFile, "update">): Strays {
  const limit = createRateLimit(LOOKS_PER_SECOND, { burstSeconds: 1 });
  /** The newest at the end. */
  let expected: string[] = [];
  let writing: NodeJS.Timeout | undefined;

  function write(): void {
    clearTimeout(writing);
    writing = undefined;
    const strays = refusals
      .list()
      .flatMap(({ source, path, near, receivedAt, address }) =>
        source === null && path !== null ? [{ path, near, receivedAt: isoTime(receivedAt), address }] : [],
      );
    instance.update({ strays: strays.slice(0, WRITTEN) });
  }

  return {
    watch(sources, endpoints) {
      if (refusals.list().some(({ path }) => path !== null)) {
        refusals.forgetPaths();
        write();
      }
      const own = endpoints.filter(({ audience }) => audience !== "senders").map(({ path }) => path);
      const find = strayFinder(sources, own);
      return ({ method = "", url = "", headers }: IncomingMessage, address) => {
        const path = pathOf(url);
        const now = performance.now();
        if (limit.available(now) < 1) return;
        limit.take(1, now);
        const isExpected = method === "POST" && expected.includes(path);
        const stray = isExpected ? { path, near: null } : find({ method, path, headers });
        if (stray === null) return;
        refusals.add({ source: null, reason: "not_found", address, ...stray });
        writing ??= setTimeout(write, WRITE_AFTER_MS).unref();
      };
    },
    expect(path) {
      expected = [...expected.filter((other) => other !== path), path].slice(-EXPECTED);
    },
    stop: () => clearTimeout(writing),
  };
}
