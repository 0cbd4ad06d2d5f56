import * as v from "valibot";
import { nearest } from "../../lib/nearest.ts";
import { PROVIDER_NAMES } from "../../webhook/providers/index.ts";

/** The name of a provider that is known. */
export const PRESET = v.picklist(PROVIDER_NAMES, ({ input }) => {
  const meant = typeof input === "string" ? nearest(input.toLowerCase(), PROVIDER_NAMES) : undefined;
  const hint = meant === undefined ? "see authserve sources presets" : `did you mean ${meant}?`;
  return `expected the name of a preset (${hint})`;
});
