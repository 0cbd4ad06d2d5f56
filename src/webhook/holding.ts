import { createBatcher } from "../lib/batch.ts";
import { createRepeatedError } from "../lib/repeated-error.ts";
import type { Log } from "../log.ts";
import type { RefusalReason } from "./bound-scheme.ts";
import { type HeldBounds, type HeldDelivery, type HeldStore, LEFT_HELD_BOUNDS } from "./held-store.ts";
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
  store: Pick<HeldStore, "hold" | "trim" | "sources">;
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

  const fault = createRepeatedError();

  /** Removes what is too old, also of sources that refuse nothing any more, that keep nothing, or that have left the file. */
  async function trim(): Promise<void> {
    try {
      const boundsOf = new Map(sources().map(({ name, keepRejected }) => [name, keepRejected]));
      for (const name of await store.sources()) await store.trim(name, boundsOf.get(name) ?? LEFT_HELD_BOUNDS, now());
      fault.clear();
    } catch (cause) {
      const error = fault.news(cause);
      if (error !== null) log.warn({ event: "held_trim_error", error }, "old refused deliveries were not removed");
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
