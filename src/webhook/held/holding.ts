import { AppError, type ErrorCode } from "../../errors.ts";
import { createBatcher } from "../../lib/batch.ts";
import { type Repetition, repeat } from "../../lib/repeat.ts";
import type { Log } from "../../log.ts";
import { isInQuery } from "../content/body.ts";
import { type RedactSettings, redacted, redactedHeaders } from "../content/redact.ts";
import type { Intake } from "../intake/intake.ts";
import { type HeldBounds, type HeldDelivery, type HeldStore, LEFT_HELD_BOUNDS } from "./held-store.ts";

/** Whether a source keeps refused deliveries. */
export interface HoldSettings {
  /** How many deliveries that were refused for their signature are kept. Undefined: none. */
  keepRejected?: HeldBounds;
}

/** Whether a source keeps a delivery that is refused for a reason: one that another secret may verify. */
export function isKept({ keepRejected }: HoldSettings, reason: string): boolean {
  return keepRejected !== undefined && (reason === "signature_mismatch" || reason === "secret_retired");
}

/** What a source that redacts keeps of a refused delivery. Null if the body cannot be redacted. */
export function redactedHeld<
  Held extends Pick<HeldDelivery, "method" | "headers" | "target" | "mediaType"> & { body: Buffer },
>(source: RedactSettings, delivery: Held): Held | null {
  if (source.redact === undefined) return delivery;
  // The payload is in the target then, which is kept as it was signed.
  if (isInQuery(delivery.method)) return null;
  const kept = redacted(source, delivery.body, delivery.mediaType);
  if (kept === null) return null;
  const { headers, target } = delivery;
  return { ...delivery, headers: redactedHeaders(headers, kept), target: kept.target(target), body: kept.bytes };
}

/** Keeps refused deliveries of the sources that ask for it. */
export interface Holding {
  /**
   * Resolves when the delivery is on disk. Does nothing for other sources, and while the intake is paused or full: held
   * deliveries never delay genuine ones. Throws `store_unavailable` if the commit fails or takes too long.
   */
  hold(source: HoldSettings, delivery: HeldDelivery): Promise<void>;
  start(): void;
  stop(): Promise<void>;
}

interface HoldingOptions {
  store: Pick<HeldStore, "hold" | "trim" | "sources">;
  /** Does a write within the bounds of the intake. */
  write: Intake["write"];
  /** The sources in use. */
  sources: () => readonly ({ name: string } & HoldSettings)[];
  log: Log;
  now: () => number;
}

const FULL: readonly ErrorCode[] = ["intake_paused", "queue_full"];

const TRIM_EVERY_MS = 60_000;

/** Creates the holding. Deliveries of one moment share a commit. */
export function createHolding({ store, write, sources, log, now }: HoldingOptions): Holding {
  const batcher = createBatcher(async (batch: { delivery: HeldDelivery; bounds: HeldBounds }[]) => {
    await store.hold(batch);
    return batch.map(() => undefined);
  });
  let trimming: Repetition | undefined;
  let skipped = 0;

  /**
   * Removes what is too old, also of sources that refuse nothing any more, that keep nothing, or that have left the
   * file.
   */
  async function trim(): Promise<void> {
    const boundsOf = new Map(sources().map(({ name, keepRejected }) => [name, keepRejected]));
    for (const name of await store.sources()) await store.trim(name, boundsOf.get(name) ?? LEFT_HELD_BOUNDS, now());
  }

  /** Once a minute: anybody can send many. */
  function reportSkipped(): void {
    if (skipped > 0)
      log.warn(
        { event: "held_skipped", count: skipped },
        "refused deliveries were not kept: the intake was paused or full",
      );
    skipped = 0;
  }

  return {
    async hold({ keepRejected }, delivery) {
      if (!keepRejected) return;
      const bytes = delivery.body.length + delivery.headers.length + delivery.target.length;
      try {
        await write(bytes, () => batcher.add({ delivery, bounds: keepRejected }));
      } catch (error) {
        if (!(error instanceof AppError) || !FULL.includes(error.code)) throw error;
        skipped++;
      }
    },
    start() {
      const turn = () => {
        reportSkipped();
        return trim();
      };
      const onError = (error: string) =>
        log.warn({ event: "held_trim_error", error }, "old refused deliveries were not removed");
      trimming = repeat(turn, { everyMs: TRIM_EVERY_MS, onError });
    },
    async stop() {
      await trimming?.stop();
      reportSkipped();
      await batcher.flush();
    },
  };
}
