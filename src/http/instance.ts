import { randomUUID } from "node:crypto";
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { describeError, OperatorError, systemCode } from "../errors.ts";
import type { Log } from "../log.ts";

const Instance = v.object({
  /** Differs at each start; `/readyz` answers with it. */
  id: v.string(),
  /** Where this machine reaches the server. */
  url: v.string(),
  /** A proxy that passes clients' addresses on and is not named in `TRUSTED_PROXIES`. */
  unnamedProxy: v.nullable(v.string()),
});

/** What a running server says of itself to the commands on the same machine, in a file in its data directory. */
export type Instance = v.InferOutput<typeof Instance>;

export const INSTANCE_FILE = "server.json";

/** The file of one start of a server. */
export interface InstanceFile {
  readonly id: string;
  /** Writes what is known by now. */
  update(known: Partial<Instance>): void;
  remove(): void;
}

/** Names this start of a server. Nothing is written before the first update, which gives the address. */
export function createInstanceFile(dataDir: string, log: Log): InstanceFile {
  const id = randomUUID();
  let instance: Instance = { id, url: "", unnamedProxy: null };
  return {
    id,
    update(known) {
      instance = { ...instance, ...known };
      write(join(dataDir, INSTANCE_FILE), instance, log);
    },
    remove: () => rmSync(join(dataDir, INSTANCE_FILE), { force: true }),
  };
}

/** A server goes on without its file: a warning in the log says what its commands lack. */
function write(file: string, instance: Instance, log: Log): void {
  const unfinished = `${file}.new`;
  try {
    writeFileSync(unfinished, `${JSON.stringify(instance)}\n`, { mode: 0o600 });
    renameSync(unfinished, file);
  } catch (error) {
    const message = `${INSTANCE_FILE} cannot be written: ready, doctor and events send-test do not find this server`;
    log.warn({ event: "instance_file_error", error: describeError(error) }, message);
  }
}

/** What the last server that was started said; null when it has stopped since, or never was. Throws {@link OperatorError}. */
export function readInstance(dataDir: string): Instance | null {
  const file = join(dataDir, INSTANCE_FILE);
  try {
    return v.parse(Instance, JSON.parse(readFileSync(file, "utf8")));
  } catch (error) {
    if (systemCode(error) === "ENOENT") return null;
    const remedy = "run this as the user that the server runs as, or start the server again";
    throw new OperatorError(`${file} cannot be read (${describeError(error)}): ${remedy}`, 1);
  }
}
