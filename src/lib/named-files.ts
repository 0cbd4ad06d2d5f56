import { readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const require = createRequire(import.meta.url);

/**
 * The files of a folder by their names, sorted, without `index`. The default export of one is loaded the first time
 * that it is asked for. Only a checkout has such folders.
 */
export function namedFiles<Content>(folder: string): { names: readonly string[]; load(name: string): Content } {
  return {
    names: readdirSync(folder)
      .flatMap((file) => /^([\w-]+)\.ts$/.exec(file)?.[1] ?? [])
      .filter((name) => name !== "index")
      .sort(),
    load: (name) => (require(join(folder, `${name}.ts`)) as { default: Content }).default,
  };
}
