import * as v from "valibot";
import { APP_PRESET_NAMES } from "../../auth/clients/preset-files.ts";
import { nearest } from "../../lib/nearest.ts";
import { PROVIDER_NAMES } from "../../webhook/providers/index.ts";

/** A name of a list that a command prints. */
const presetOf = (names: readonly string[], command: string) =>
  v.picklist(names, ({ input }) => {
    const meant = typeof input === "string" ? nearest(input.toLowerCase(), names) : undefined;
    return `expected the name of a preset (${meant === undefined ? `see ${command}` : `did you mean ${meant}?`})`;
  });

/** The name of a provider that is known. */
export const PRESET = presetOf(PROVIDER_NAMES, "authserve sources presets");

/** The name of an app that is known. */
export const APP_PRESET = presetOf(APP_PRESET_NAMES, "authserve clients presets");
