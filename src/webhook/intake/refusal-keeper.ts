import { describeError } from "../../errors.ts";
import { type Repetition, repeat } from "../../lib/repeat.ts";
import { timeout } from "../../lib/timeout.ts";
import type { Log } from "../../log.ts";
import type { RefusalStore } from "./refusal-store.ts";
import { KEPT_REFUSALS, KEPT_REFUSALS_MS, type RecentRefusals } from "./refusals.ts";

/** Keeps the newest refusals over a restart, from `start` to `stop`. */
interface RefusalKeeper {
  start(): void;
  stop(): Promise<void>;
}

interface KeeperOptions {
  refusals: Pick<RecentRefusals, "restore" | "take" | "giveBack">;
  store: RefusalStore;
  log: Log;
  now(): number;
}

// Anybody can be refused as often as the network allows. Each write has as many as are kept in memory, at most.
const SAVE_EVERY_MS = 5000;
const STOP_TIMEOUT_MS = 2000;

/** Creates the keeper. It reads what any server has stored, and then stores what this one refuses. */
export function createRefusalKeeper({ refusals, store, log, now }: KeeperOptions): RefusalKeeper {
  let isRestored = false;
  let saving: Repetition | undefined;

  async function save(): Promise<void> {
    const since = now() - KEPT_REFUSALS_MS;
    if (!isRestored) refusals.restore(await store.list(since));
    isRestored = true;
    const taken = refusals.take();
    if (taken.length === 0) return;
    try {
      await store.add(taken, { most: KEPT_REFUSALS, since });
    } catch (error) {
      refusals.giveBack(taken.length);
      throw error;
    }
  }

  const onError = (error: string) =>
    log.warn({ event: "refusals_error", error }, "the newest refused deliveries were not stored or read");

  return {
    start() {
      saving = repeat(save, { firstMs: 0, everyMs: SAVE_EVERY_MS, onError });
    },
    async stop() {
      if (saving === undefined) return;
      const ended = saving.stop().then(save);
      await timeout(STOP_TIMEOUT_MS, ended, () => new Error("the store does not answer")).catch((error) =>
        onError(describeError(error)),
      );
    },
  };
}
