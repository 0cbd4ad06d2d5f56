import * as v from "valibot";
import type { StatusRange } from "../../worker/decide.ts";
import { duration, fraction, integer, MAX_WAIT, oneOf, parsed } from "../fields.ts";
import { formatDuration } from "../units.ts";
import { key, listOf, numberOrText } from "./fields.ts";
import { map } from "./shape.ts";

const STATUS_EXPECTATION = "expected a status from 100 to 599 or a range, e.g. 404, 400-499 or !429";

const status = numberOrText(
  parsed((text): StatusRange | null => {
    const [, not, from, to = from] = /^(!?)([1-5][0-9]{2})(?:-([1-5][0-9]{2}))?$/.exec(text) ?? [];
    return Number(from) <= Number(to) ? { from: Number(from), to: Number(to), isExcluded: not === "!" } : null;
  }, STATUS_EXPECTATION),
  STATUS_EXPECTATION,
);

const delay = duration(1, "1s", MAX_WAIT);
const MAX_DELAYS = 99;

/** What `delays` replaces. */
const COMPUTED = ["attempts", "backoff", "delay", "maxDelay"] as const;

/** When a route repeats failed attempts. With `delaysMs`, only `jitter` and `giveUpOn` are besides. */
export const RetrySchema = map(
  {
    attempts: key(
      numberOrText(integer(1, MAX_DELAYS + 1)),
      "Attempts before the dead letter. Default: `RETRY_ATTEMPTS`.",
    ),
    backoff: key(
      oneOf("exponential", "linear"),
      "`exponential` doubles the delay after each attempt. `linear` keeps it. Default: `RETRY_BACKOFF`.",
    ),
    delay: key(delay, "Delay before the first retry. Default: `RETRY_DELAY`."),
    maxDelay: key(delay, "Longest delay. Default: `10m`, or `delay` if it is longer."),
    delays: key(
      v.pipe(listOf(delay, "delay"), v.maxLength(MAX_DELAYS, `expected at most ${MAX_DELAYS} delays`)),
      "The delay before each retry, instead of `attempts`, `backoff`, `delay` and `maxDelay`.",
    ),
    jitter: key(
      numberOrText(fraction),
      "Share of each delay that is added or subtracted at random. Default: `RETRY_JITTER`.",
    ),
    giveUpOn: key(
      listOf(status, "status"),
      "HTTP statuses that end the attempts at once: `404`, `400-499`, or `!429` for an exception.",
    ),
  },
  "expected a map",
  {
    check(entry, reading) {
      for (const name of "delays" in entry ? COMPUTED.filter((name) => name in entry) : [])
        reading.at(name).fault("found beside delays, expected one of them", "key");
      const { delay = 0, maxDelay = Infinity } = entry;
      if (maxDelay < delay) {
        const [longest, least] = [maxDelay, delay].map(formatDuration);
        reading.at("maxDelay").fault(`found "${longest}", expected at least delay, which is ${least}`);
      }
    },
    read: ({ delay: delayMs, maxDelay: maxDelayMs, delays: delaysMs, ...rest }) => ({
      ...rest,
      delayMs,
      maxDelayMs,
      delaysMs,
    }),
  },
);

/** The retries of a route. What is undefined comes from the settings. */
export type RetryEntry = Partial<v.InferOutput<typeof RetrySchema>>;
