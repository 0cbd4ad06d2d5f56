import { createRequire } from "node:module";
import type jsonata from "jsonata";

const require = createRequire(import.meta.url);

/**
 * Loads the package when it is first needed, because it takes long to load. This module is the one for a checkout. The
 * build of the single binary replaces it.
 */
export function loadJsonata(): typeof jsonata {
  return require("jsonata") as typeof jsonata;
}
