import * as v from "valibot";
import { duration, fraction, integer, MAX_WAIT, oneOf, signingSecret, url } from "../fields.ts";
import type { Group } from "../setting.ts";

/** Settings of the default route and its retries. */
export const PROCESSING = {
  FORWARD_URL: {
    schema: v.optional(url),
    defaultText: "none: events are logged by id and type",
    meaning:
      "URL that each event is posted to. The certificate of an `https` URL is checked with the authorities of Node and of the system. It is refused beside `routes` in the configuration file.",
    example: "http://127.0.0.1:8080/events",
  },
  FORWARD_SECRET: {
    schema: v.optional(signingSecret),
    secret: true,
    meaning: "Signs forwarded events as Standard Webhooks: `whsec_` and base64, or text.",
    example: "/etc/authserve/forward_secret",
  },
  RETRY_ATTEMPTS: {
    schema: v.optional(integer(1, 100), "10"),
    meaning: "Attempts before an event is dead-lettered.",
    example: "5",
  },
  RETRY_BACKOFF: {
    schema: v.optional(oneOf("exponential", "linear"), "exponential"),
    meaning: "`exponential` doubles the delay after each attempt, up to 10 minutes. `linear` keeps it.",
    example: "linear",
  },
  RETRY_DELAY: {
    schema: v.optional(duration(1, "1s", MAX_WAIT)),
    defaultText: "`1s`; `30s` with `RETRY_BACKOFF=linear`",
    meaning: "Delay before the first retry.",
    example: "5s",
  },
  RETRY_JITTER: {
    schema: v.optional(fraction, "0.2"),
    meaning: "Share of each delay that is added or subtracted at random: 0.2 means up to 20 % either way.",
    example: "0.1",
  },
  WORKER_CONCURRENCY: {
    schema: v.optional(integer(1, 1000), "10"),
    meaning: "Attempts of a route at once.",
    example: "50",
  },
  WORKER_POLL_INTERVAL: {
    schema: v.optional(duration(10, "1s"), "1s"),
    meaning: "How often the worker looks for events that other processes made due, such as `authserve events replay`.",
    example: "5s",
  },
  HANDLER_TIMEOUT: {
    schema: v.optional(duration(1, "30s"), "30s"),
    meaning: "Longest time of one attempt. After it the attempt has failed.",
    example: "10s",
  },
} satisfies Group;
