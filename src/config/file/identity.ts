import * as v from "valibot";
import type { Dedupe } from "../../webhook/provider.ts";
import type { Place } from "../../webhook/signature/schemes.ts";
import { MAX_AGE, parsed } from "../fields.ts";
import { parseDurationMs } from "../units.ts";
import { textLike } from "./fields.ts";

const PLACE = /^(?:header:[A-Za-z0-9!#$%&'*+.^_`|~-]+|body:.+|claim:.+)$/;

/** A place of a delivery. Names of headers are in lower case. */
const placeLike = <Named extends string = Place>(form: RegExp, expectation: string) =>
  v.pipe(
    textLike(form, expectation),
    v.transform((place) => (place.startsWith("header:") ? place.toLowerCase() : place) as Named),
  );

/** Where the type of an event is. */
export const TypeSchema = placeLike(PLACE, "expected body:PATH, header:NAME or claim:NAME");

/** Where the id of an event is. */
export const IdSchema = v.union(
  [
    placeLike<Place | "bytes">(new RegExp(`^bytes$|${PLACE.source}`), ""),
    v.pipe(v.array(placeLike(PLACE, "")), v.minLength(2, "")),
  ],
  "expected body:PATH, header:NAME, claim:NAME or bytes, or a list of several places",
);

/** What makes a duplicate. */
export const DedupeSchema = parsed((value): Dedupe | null => {
  if (value === "bytes" || value === "id" || value === "off") return value;
  const ms = parseDurationMs(value);
  return ms !== null && ms >= 1000 && ms <= MAX_AGE.ms ? ms : null;
}, "expected bytes, id, off or a duration from 1s to 365d, e.g. 5m");
