import { createRequire } from "node:module";
import type stringWidth from "string-width";

const require = createRequire(import.meta.url);

/**
 * Loads the package when it is first needed, because it takes long to load. This module is the one for a checkout. The
 * build of the single binary replaces it.
 */
export function loadStringWidth(): typeof stringWidth {
  return (require("string-width") as { default: typeof stringWidth }).default;
}
