import type { Settings } from "../config/settings.ts";
import { readDiskSpace } from "../lib/files.ts";
import type { Log } from "../log.ts";
import type { ServerStores } from "../stores.ts";
import { type Admission, createAdmission } from "../webhook/intake/admission.ts";

const UNLIMITED = { freeBytes: Number.POSITIVE_INFINITY, sizeBytes: Number.POSITIVE_INFINITY };

/** Creates the admission of deliveries. With PostgreSQL it reads no disk. */
export function openAdmission(settings: Settings, { events, now }: ServerStores, log: Log): Admission {
  return createAdmission({
    minFreeBytes: settings.MIN_FREE_DISK,
    maxQueueAgeMs: settings.MAX_QUEUE_AGE,
    // The disk of a PostgreSQL server is not seen from here.
    readSpace: async () => (settings.DATABASE_URL === undefined ? readDiskSpace(settings.DATA_DIR) : UNLIMITED),
    readBacklog: () => events.backlog(),
    log,
    now,
  });
}
