import { createSocket } from "node:dgram";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Command, type CommandOptions, startProgram } from "./command.ts";

/** A name server that answers nothing. */
export interface SilentDns {
  /** Queries that have come. */
  queries(): number;
  /** Starts a program that asks this name server alone. Needs root. */
  startProgram(program: string, args: readonly string[], options: CommandOptions): Command;
  [Symbol.dispose](): void;
}

const MOUNT_AND_RUN = 'mount --bind "$0" /etc/resolv.conf && exec "$@"';

/** Starts a name server that answers nothing. Its port is that of DNS, so its address is one that nobody else takes. */
export async function startSilentDns(): Promise<SilentDns> {
  const [first, second] = crypto.getRandomValues(new Uint8Array(2));
  const address = `127.${first}.${second}.53`;
  let queries = 0;
  const socket = createSocket("udp4", () => queries++);
  socket.bind(53, address);
  await once(socket, "listening");
  return {
    queries: () => queries,
    startProgram(program, args, options) {
      const file = join(options.dir, "resolv.conf");
      writeFileSync(file, `nameserver ${address}\n`);
      // Each of them becomes the next one: the process that is started is the program.
      return startProgram("unshare", ["--mount", "sh", "-c", MOUNT_AND_RUN, file, program, ...args], options);
    },
    [Symbol.dispose]: () => socket.close(),
  };
}
