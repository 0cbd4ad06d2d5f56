import { createSocket } from "node:dgram";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Command, type CommandOptions, startProgram } from "./command.ts";

/** A name server that never answers. */
interface SilentDns {
  /** The number of queries received. */
  queries(): number;
  /** Starts a program that uses only this name server. Needs root. */
  startProgram(program: string, args: readonly string[], options: CommandOptions): Command;
  [Symbol.dispose](): void;
}

const MOUNT_AND_RUN = 'mount --bind "$0" /etc/resolv.conf && exec "$@"';

/** Starts a name server that never answers. Its port is that of DNS, so it listens on a random loopback address. */
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
      // Each command execs the next one, so that the started process becomes the program.
      return startProgram("unshare", ["--mount", "sh", "-c", MOUNT_AND_RUN, file, program, ...args], options);
    },
    [Symbol.dispose]: () => socket.close(),
  };
}
