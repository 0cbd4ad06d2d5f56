import * as v from "valibot";
import { diskSize, duration, integer, MAX_AGE, networks, OWN_PATHS, path, size, text } from "../fields.ts";
import type { Group } from "../setting.ts";

/** Settings of the source `default`, and of what is accepted from all sources. */
export const WEBHOOKS = {
  WEBHOOK_SECRET: {
    schema: v.optional(text),
    secret: true,
    meaning: "Secret shared with the sender of webhooks. Without it there is no webhook route.",
    example: "/etc/authserve/webhook_secret",
  },
  WEBHOOK_SECRET_PREVIOUS: {
    schema: v.optional(text),
    secret: true,
    meaning: "An earlier secret that is accepted as well, while the sender changes to a new one.",
    example: "/etc/authserve/webhook_secret_previous",
  },
  WEBHOOK_PATH: {
    schema: v.optional(path, "/webhook"),
    meaning: `Path of the webhook route. It must not be one of these or lie below it: ${OWN_PATHS.map((own) => `\`${own}\``).join(", ")}.`,
    example: "/hooks/stripe",
  },
  WEBHOOK_ALLOWED_ADDRESSES: {
    schema: v.optional(networks),
    defaultText: "all addresses",
    meaning: "Addresses that may deliver. Others get 403 `address_not_allowed`.",
    example: "192.30.252.0/22,2606:50c0::/32",
  },
  WEBHOOK_BODY_LIMIT: {
    schema: v.optional(size, "1m"),
    meaning: "Largest body of a delivery, in bytes, or with `k` or `m`. GitHub sends up to `25m`.",
    example: "25m",
  },
  WEBHOOK_QUEUE_LIMIT: {
    schema: v.optional(integer(1, 1_000_000), "10000"),
    meaning:
      "Deliveries that may wait for their commit. Above this number, or above 64 MiB, deliveries get 503 `queue_full`.",
    example: "1000",
  },
  MIN_FREE_DISK: {
    schema: v.optional(diskSize),
    defaultText: "`256m`, or 5 % of the disk if that is less",
    meaning:
      "Free space on the disk of `DATA_DIR`, in bytes, or with `k`, `m` or `g`. Below it, deliveries get 503 `intake_paused`. They are accepted again when a quarter more than it is free. 0 switches this off. It does not apply with `DATABASE_URL`.",
    example: "1g",
  },
  MAX_QUEUE_AGE: {
    schema: v.optional(duration(1000, "1h", MAX_AGE)),
    defaultText: "none: deliveries are accepted however old the queue is",
    meaning:
      "Age of the oldest queued event since its receipt. Above it, deliveries get 503 `intake_paused`. They are accepted again below four fifths of it.",
    example: "6h",
  },
} satisfies Group;
