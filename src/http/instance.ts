import { randomUUID } from "node:crypto";
import { readFileSync, readlinkSync, rmSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { describeError, OperatorError, systemCode } from "../errors.ts";
import { replaceFile } from "../lib/files.ts";
import type { Log } from "../log.ts";

// Commands of a new version read what an older server has written. So a later member is optional.
const Instance = v.object({
  /** Differs at each start. `/readyz` returns it. */
  id: v.string(),
  /** The server's URL for clients on this machine. */
  url: v.string(),
  /** The address of a proxy that forwards clients' addresses and is not in `TRUSTED_PROXIES`. */
  unnamedProxy: v.nullable(v.string()),
  /** What is wrong with how a proxy asks `/auth/verify`. */
  questionFault: v.optional(v.nullable(v.object({ found: v.string(), remedy: v.string() })), null),
  /** Why the configuration file that is there is not in use. */
  configFault: v.nullable(v.string()),
  /** The newest requests to paths that no source has, of those that were probably meant for one. */
  strays: v.optional(
    v.array(v.object({ path: v.string(), near: v.nullable(v.string()), receivedAt: v.string(), address: v.string() })),
    [],
  ),
  /** The process that reads the configuration file again at SIGHUP. Null during the start, and where SIGHUP ends it. */
  process: v.nullable(v.object({ pid: v.number(), namespace: v.nullable(v.string()) })),
  /** The newest reload at SIGHUP. `file` is null if there is no configuration file. */
  reload: v.object({ count: v.number(), file: v.nullable(v.string()) }),
});

/** What a running server tells commands on the same machine, in a file in its data directory. */
export type Instance = v.InferOutput<typeof Instance>;

export const INSTANCE_FILE = "server.json";

/** Creates the id of this start. The file is written at the first update, when the address is known. */
export function createInstanceFile(dataDir: string, log: Log) {
  const id = randomUUID();
  let instance: Instance = {
    id,
    url: "",
    unnamedProxy: null,
    questionFault: null,
    configFault: null,
    strays: [],
    process: null,
    reload: { count: 0, file: null },
  };
  let isRemoved = false;
  return {
    id,
    /** Changes some members and writes the file, unless it was removed. */
    update(known: Partial<Instance>): void {
      if (isRemoved) return;
      instance = { ...instance, ...known };
      write(join(dataDir, INSTANCE_FILE), instance, log);
    },
    remove(): void {
      isRemoved = true;
      rmSync(join(dataDir, INSTANCE_FILE), { force: true });
    },
  };
}

/** The instance file of a running server. */
export type InstanceFile = ReturnType<typeof createInstanceFile>;

/** Writes the file. A failure is only logged, because the server works without the file. */
function write(file: string, instance: Instance, log: Log): void {
  try {
    // Not flushed: a stalled disk must not delay requests, and the file is of no use after the machine has restarted.
    replaceFile(file, `${JSON.stringify(instance)}\n`, { mode: 0o600, flush: false });
  } catch (error) {
    const message = `${INSTANCE_FILE} cannot be written: the commands ready, reload, doctor and events send-test cannot find this server`;
    log.warn({ event: "instance_file_error", error: describeError(error) }, message);
  }
}

/**
 * Reads the file of the server that was started last; null if it has stopped or none was started. Throws {@link
 * OperatorError}.
 */
export function readInstance(dataDir: string): Instance | null {
  const file = join(dataDir, INSTANCE_FILE);
  try {
    return v.parse(Instance, JSON.parse(readFileSync(file, "utf8")));
  } catch (error) {
    if (systemCode(error) === "ENOENT") return null;
    const found = `${file} cannot be read (${describeError(error)})`;
    throw new OperatorError({ found, remedy: "run this as the server's user, or restart the server" }, 1);
  }
}

/** The PID namespace of this process: the same pid is another process in another one. Null if the system has none. */
export function pidNamespace(): string | null {
  try {
    return readlinkSync("/proc/self/ns/pid");
  } catch {
    return null;
  }
}
