import { sourcesOf } from "../config/sources.ts";
import { describeError } from "../errors.ts";
import { countAppends, countRefused, watchAppends } from "../instrument.ts";
import { readDiskSpace } from "../lib/files.ts";
import type { AddressLists } from "../webhook/addresses/address-lists.ts";
import type { DeliveryParts } from "../webhook/endpoints.ts";
import { createHolding } from "../webhook/held/holding.ts";
import { type Admission, createAdmission } from "../webhook/intake/admission.ts";
import { createIntake, INTAKE_TIMEOUT_MS, type Intake } from "../webhook/intake/intake.ts";
import { createRefusalKeeper } from "../webhook/intake/refusal-keeper.ts";
import { createOwnRefusals, createRecentRefusals, type RecentRefusals } from "../webhook/intake/refusals.ts";
import { countedReason, createSourceCounter } from "../webhook/intake/source-counter.ts";
import type { OutageWatch } from "../webhook/outages/watch.ts";
import { keepReceivedSecret } from "../webhook/secrets/received-secrets.ts";
import { createRetirement } from "../webhook/secrets/retirement.ts";
import type { KeySets } from "../webhook/signature/key-sets.ts";
import type { Wiring } from "./configuration.ts";
import type { Part } from "./parts.ts";

interface DeliveryNeeds {
  admission: Pick<Admission, "pausedBy">;
  addressLists: Pick<AddressLists, "find">;
  keySets: Pick<KeySets, "withKeys" | "renew" | "isMissing">;
  outages: Pick<OutageWatch, "refused">;
}

/** The receipt of deliveries. Its stop stores what was counted, held and refused. */
export interface Deliveries extends Part {
  intake: Intake;
  /** What the routes of the sources use. */
  endpointParts: DeliveryParts;
  /** Why the last commit failed; null if it did not. */
  appendError(): string | null;
  /** The deliveries of the last minute that the server refused for reasons of its own, by code. */
  ownRefusals(): Record<string, number>;
  /** The newest refused deliveries, also from before the start. */
  recentRefusals: RecentRefusals;
}

/** Creates the receipt of deliveries. */
export function openDeliveries(
  { settings, config, stores, metrics, log }: Wiring,
  { admission, addressLists, keySets, outages }: DeliveryNeeds,
): Deliveries {
  const { now } = stores;
  const sources = () => sourcesOf(settings, config.current);
  const appends = watchAppends(countAppends(stores.events, metrics));
  const intake = createIntake({
    append: appends.append,
    pausedBy: admission.pausedBy,
    queueLimit: settings.WEBHOOK_QUEUE_LIMIT,
    timeoutMs: stores.shared === null ? INTAKE_TIMEOUT_MS : Math.min(INTAKE_TIMEOUT_MS, settings.DATABASE_TIMEOUT),
  });
  const counter = createSourceCounter(stores.sources, {
    onError: (error) =>
      log.warn({ event: "source_counts_error", error: describeError(error) }, "the counts of sources were not stored"),
    now,
  });
  const countRefusal = countRefused(metrics);
  const ownRefusals = createOwnRefusals();
  const recentRefusals = createRecentRefusals(now);
  const keeper = createRefusalKeeper({ refusals: recentRefusals, store: stores.refusals, log, now });
  const holding = createHolding({ store: stores.held, write: intake.write, sources, log, now });
  const retirement = createRetirement({ store: stores.sources, sources, log, now });
  return {
    intake,
    appendError: appends.error,
    ownRefusals: ownRefusals.count,
    recentRefusals,
    endpointParts: {
      intake,
      log,
      trustedProxies: settings.TRUSTED_PROXIES,
      now,
      addressLists,
      keySets,
      hold: holding.hold,
      keepSecret: (source, { value, address }) =>
        intake.write(value.length, () =>
          keepReceivedSecret(stores.sources, source, { value, address, receivedAt: now() }),
        ),
      acceptsSecret: retirement.accepts,
      onReceived: counter.received,
      onRefused(source, code, reason, address) {
        recentRefusals.add({ source, reason: countedReason(code, reason), address });
        countRefusal(code, reason);
        ownRefusals.add(code);
        outages.refused(code);
        counter.refused(source, countedReason(code, reason));
      },
    },
    start() {
      keeper.start();
      holding.start();
      retirement.start();
    },
    async stop() {
      await Promise.all([keeper.stop(), holding.stop(), retirement.stop(), counter.flush()]);
    },
  };
}

const UNLIMITED = { freeBytes: Number.POSITIVE_INFINITY, sizeBytes: Number.POSITIVE_INFINITY };

/** Creates the admission of deliveries. With PostgreSQL it reads no disk. */
export function openAdmission({ settings, stores, log }: Wiring): Admission {
  return createAdmission({
    minFreeBytes: settings.MIN_FREE_DISK,
    maxQueueAgeMs: settings.MAX_QUEUE_AGE,
    // The disk of a PostgreSQL server is not seen from here.
    readSpace: async () => (settings.DATABASE_URL === undefined ? readDiskSpace(settings.DATA_DIR) : UNLIMITED),
    readBacklog: () => stores.events.backlog(),
    log,
    now: stores.now,
  });
}
