import { join } from "node:path";
import { namedFiles } from "../lib/named-files.ts";
import type { Provider } from "./provider.ts";

// This module is the one for a checkout. The build of the single binary replaces it with code that has the files
// inside.
const files = namedFiles<Provider>(join(import.meta.dirname, "providers"));

/** The names of the files in `providers`, sorted. */
export const PROVIDER_NAMES = files.names;

/** Loads the file of a name in `PROVIDER_NAMES`, the first time that it is asked for. */
export const loadProvider = files.load;
