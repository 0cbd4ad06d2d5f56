import { describeError } from "../errors.ts";
import { createBatcher } from "../lib/batch.ts";
import type { Log } from "../log.ts";
import type { RefusalReason } from "./bound-scheme.ts";
import type { HeldBounds, HeldDelivery, HeldStore } from "./held-store.ts";
import type { Source } from "./source.ts";

/** Whether a source keeps a delivery that is refused for a reason: one that another secret may verify. */
export function isKept({ keepRejected }: Pick<Source, "keepRejected">, reason: RefusalReason): boolean {
  return keepRejected !== undefined && (reason === "signature_mismatch" || reason === "secret_retired");
}

/** Keeps refused deliveries of the sources that ask for it. */
export interface Holding {
  /** Resolves when the delivery is on disk. Does nothing for other sources. */
  hold(source: Pick<Source, "keepRejected">, delivery: HeldDelivery): Promise<void>;
  start(): void;
  stop(): Promise<void>;
}

interface HoldingOptions {
  store: Pick<HeldStore, "hold" | "trim">;
  /** The sources in use. */
  sources: () => readonly Pick<Source, "name" | "keepRejected">[];
  log: Log;
  now: () => number;
}

const TRIM_EVERY_MS = 60_000;

/** Creates the holding. Deliveries of one moment share a commit. */
export function createHolding({ store, sources, log, now }: HoldingOptions): Holding {
  const batcher = createBatcher(async (batch: { delivery: HeldDelivery; bounds: HeldBounds }[]) => {
    await store.hold(batch);
    return batch.map(() => undefined);
  });
  let timer: NodeJS.Timeout | undefined;

  /** Removes what is too old, of sources that no longer refuse anything. */
  async function trim(): Promise<void> {
    try {
      for (const { name, keepRejected } of sources()) if (keepRejected) await store.trim(name, keepRejected, now());
    } catch (error) {
      log.warn({ event: "held_trim_error", error: describeError(error) }, "old refused deliveries were not removed");
    }
  }

  return {
    async hold({ keepRejected }, delivery) {
      if (keepRejected) await batcher.add({ delivery, bounds: keepRejected });
    },
    start() {
      timer = setInterval(() => void trim(), TRIM_EVERY_MS).unref();
    },
    async stop() {
      clearInterval(timer);
      await batcher.flush();
    },
  };
}
