import { join } from "node:path";
import { namedFiles } from "../../lib/named-files.ts";
import type { AppPreset } from "./preset.ts";

// This module is the one for a checkout. The build of the single binary replaces it with code that has the files
// inside.
const files = namedFiles<AppPreset>(join(import.meta.dirname, "presets"));

/** The names of the files in `presets`, sorted. */
export const APP_PRESET_NAMES = files.names;

/** Loads the preset of a name in `APP_PRESET_NAMES`, the first time that it is asked for. */
export const loadAppPreset = files.load;
