import * as v from "valibot";
import { NAME } from "../../lib/name.ts";
import type { ShadowRoute } from "../../worker/shadow/shadows.ts";
import { key, listOf, NAME_EXPECTATION, textLike } from "./fields.ts";
import { HANDLERS } from "./handler.ts";
import type { Reading } from "./reading.ts";
import { becomes, hintOf, map, shown } from "./shape.ts";
import { JsonPath } from "./when.ts";

/** A shadow of the file. What is undefined comes from the settings. */
export interface ShadowEntry extends Omit<ShadowRoute, "timeoutMs" | "concurrency"> {
  timeoutMs?: number | undefined;
  concurrency?: number | undefined;
}

/** What makes a route a shadow. */
export const ShadowSchema = map(
  {
    of: v.pipe(
      textLike(NAME, NAME_EXPECTATION),
      v.description("The route whose events it gets, and whose answers its own are compared with."),
      becomes(shadowedRoute),
    ),
    ignore: key(
      listOf(JsonPath, "path"),
      "Paths of members of JSON answers that may differ. `*` stands for any one member or item.",
    ),
  },
  "expected a map with of",
  { read: ({ of: route, ignore = [] }) => ({ ...route, ignore }) },
);

/** The route that is shadowed, and whether it sends the result of an expression. */
function shadowedRoute(of: string, reading: Reading): { of: string; ofTransform: boolean } | null {
  const { shadowed } = reading.context.outline;
  const ofTransform = shadowed.get(of);
  if (ofTransform !== undefined) return { of, ofTransform };
  const hint = hintOf(of, [...shadowed.keys()]);
  return reading.fault(`found ${shown(of, reading.path)}, expected the name of a route with http${hint}`);
}

/** The keys of routes that a shadow may have. The others choose events, or when attempts are made. */
const OF_SHADOW = ["name", "transform", ...Object.keys(HANDLERS), "concurrency", "shadow"];

/** Checks what a shadow has besides, as the handler of this name. */
export function checkShadow(entry: object, handler: keyof typeof HANDLERS | undefined, reading: Reading): void {
  for (const one of Object.keys(entry).filter((key) => !OF_SHADOW.includes(key)))
    reading
      .at(one)
      .fault("found beside shadow, which gets the events of its route once each, expected one of them", "key");
  if (handler !== undefined && handler !== "http" && handler !== "to")
    reading.at(handler).fault("found beside shadow, expected http, whose answers can be compared", "key");
}
