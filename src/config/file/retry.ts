import * as v from "valibot";
import type { StatusRange } from "../../worker/decide.ts";
import { duration, fraction, integer, MAX_WAIT, oneOf, parsed } from "../fields.ts";
import { formatDuration } from "../units.ts";
import { key, listOf, numberOrText } from "./fields.ts";
import type { Reading } from "./reading.ts";
import type { Known } from "./shape.ts";

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

/** The retries of a route as they are written in the file. */
export const RetrySchema = v.strictObject(
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
);

type RetryKeys = Known<v.InferOutput<typeof RetrySchema>>;

/** The retries of a route. With `delaysMs`, only `jitter` and `giveUpOn` are besides. */
export interface RetryEntry {
  attempts?: number | undefined;
  backoff?: "exponential" | "linear" | undefined;
  delayMs?: number | undefined;
  maxDelayMs?: number | undefined;
  delaysMs?: readonly number[] | undefined;
  jitter?: number | undefined;
  giveUpOn?: readonly StatusRange[] | undefined;
}

/** What `delays` replaces. */
const COMPUTED = ["attempts", "backoff", "delay", "maxDelay"] as const;

/** Reads the retries of a route that has these handlers. */
export function readRetry(entry: RetryKeys, handlers: readonly string[], reading: Reading): RetryEntry {
  const { attempts, backoff, delay: delayMs, maxDelay: maxDelayMs, delays: delaysMs, jitter, giveUpOn } = entry;
  for (const name of "delays" in entry ? COMPUTED.filter((name) => name in entry) : [])
    reading.at(name).fault("found beside delays, expected one of them", "key");
  if (delayMs !== undefined && maxDelayMs !== undefined && maxDelayMs < delayMs) {
    const [longest, least] = [maxDelayMs, delayMs].map(formatDuration);
    reading.at("maxDelay").fault(`found "${longest}", expected at least delay, which is ${least}`);
  }
  const isHttp = handlers.some((name) => name === "http" || name === "to");
  if ("giveUpOn" in entry && !isHttp && handlers[0] !== undefined)
    reading.at("giveUpOn").fault(`found beside ${handlers[0]}, expected http or to`, "key");
  return { attempts, backoff, delayMs, maxDelayMs, delaysMs, jitter, giveUpOn };
}
