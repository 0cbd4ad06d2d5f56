import { readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Provider } from "./provider.ts";

const FOLDER = join(import.meta.dirname, "providers");

const require = createRequire(import.meta.url);

/**
 * The names of the files in `providers`, sorted. This module is the one for a checkout. The build of the single binary
 * replaces it with code that has the files inside.
 */
export const PROVIDER_NAMES: readonly string[] = readdirSync(FOLDER)
  .flatMap((file) => /^(\w+)\.ts$/.exec(file)?.[1] ?? [])
  .filter((name) => name !== "index")
  .sort();

/** Loads the file of a name in `PROVIDER_NAMES`, the first time that it is asked for. */
export function loadProvider(name: string): Provider {
  return (require(join(FOLDER, `${name}.ts`)) as { default: Provider }).default;
}
