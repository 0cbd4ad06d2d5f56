import { accessSync, constants, statSync } from "node:fs";
import { resolve } from "node:path";
import type * as v from "valibot";
import { systemCode } from "../../errors.ts";
import type { HandlerConfig } from "../../worker/route.ts";
import { shown } from "./faults.ts";
import type { Known } from "./known-keys.ts";
import type { Reading } from "./reading.ts";
import { HANDLER_NAMES, type RouteSchema } from "./route-schema.ts";
import { readSigningKey } from "./signing-key-ref.ts";
import type { Path } from "./yaml-document.ts";

/** The keys of a route that have no fault of their own. */
export type KnownRoute = Known<v.InferOutput<typeof RouteSchema>>;

/** Reads the one handler of a route. `names` are those that it has. Null if there is none, or it has a fault. */
export function readHandler(
  names: readonly (typeof HANDLER_NAMES)[number][],
  known: KnownRoute,
  base: Path,
  reading: Reading,
): HandlerConfig | null {
  const [first, ...others] = names;
  if (first === undefined) {
    reading.faults.push({ path: base, message: `found no handler, expected one of ${HANDLER_NAMES.join(", ")}` });
  }
  for (const name of others) {
    reading.faults.push({ path: [...base, name], at: "key", message: `found beside ${first}, expected one handler` });
  }
  const [handler = null] = names.map((name) => READERS[name](known, base, reading));
  return handler;
}

type Read = (known: KnownRoute, base: Path, reading: Reading) => HandlerConfig | null;

const READERS: Record<(typeof HANDLER_NAMES)[number], Read> = {
  to: ({ to }) => (to === undefined ? null : { kind: "http", url: to, key: null }),
  http({ http: { url, secret } = {} }, base, reading) {
    const key = secret === undefined ? null : readSigningKey(secret, [...base, "http", "secret"], reading);
    return url === undefined ? null : { kind: "http", url, key };
  },
  exec({ exec: { command } = {} }, _base, { context: { folder } }) {
    const [program, ...words] = command ?? [];
    if (program === undefined) return null;
    return { kind: "exec", command: [program.includes("/") ? resolve(folder, program) : program, ...words], folder };
  },
  module({ module: { file } = {} }, base, reading) {
    return file === undefined ? null : { kind: "module", file: readFile(file, [...base, "module", "file"], reading) };
  },
  log: () => ({ kind: "log" }),
};

/** Checks the file of a module, without loading it. Returns its absolute path. */
function readFile(name: string, path: Path, { context, faults }: Reading): string {
  const file = resolve(context.folder, name);
  context.modules.add(file);
  try {
    accessSync(file, constants.R_OK);
    if (statSync(file).isFile()) return file;
    faults.push({ path, message: `found ${shown(name, path)}, which is no regular file, expected a readable file` });
  } catch (error) {
    const why = `which cannot be read (${systemCode(error)})`;
    faults.push({ path, message: `found ${shown(name, path)}, ${why}, expected a readable file` });
  }
  return file;
}
