import { type AddressInfo, createServer, type Server } from "node:net";
import { type Fault, SettingsError, systemCode } from "../errors.ts";

export interface Address {
  port: number;
  /** All addresses when it is undefined. */
  host: string | undefined;
  /** Other listeners of this process share the port. */
  reusePort?: boolean;
}

/** Starts listening. Returns the port. Throws {@link SettingsError} when the address cannot be had. */
export function listen(server: Server, address: Address): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", (error) => reject(listenFailure(systemCode(error), address.port)));
    server.listen(address, () => resolve((server.address() as AddressInfo).port));
  });
}

/**
 * Finds the port for listeners that will share it. It must be nobody's now: with `reusePort` two servers of one user
 * could listen there without knowing of each other. Throws {@link SettingsError} when it cannot be had.
 */
export async function findPort(address: Omit<Address, "reusePort">): Promise<number> {
  const probe = createServer();
  const port = await listen(probe, address);
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

const UNRESOLVED: Fault = { found: "HOST cannot be resolved", remedy: "set HOST to an address of this machine" };

/** What an address that cannot be had means to the operator. */
export function listenFailure(code: string, port: number): SettingsError {
  const known: Record<string, Fault> = {
    EADDRINUSE: { found: `PORT ${port} is in use`, remedy: "stop what listens there, or set another PORT" },
    EACCES: {
      found: `PORT ${port} needs privileges`,
      remedy: "set a PORT above 1023, or grant CAP_NET_BIND_SERVICE",
    },
    EADDRNOTAVAIL: { found: "HOST is not an address of this machine", remedy: "set HOST to one that is" },
    ENOTFOUND: UNRESOLVED,
    EAI_AGAIN: UNRESOLVED,
    EINVAL: {
      found: "HOST is not usable",
      remedy: "set HOST to an address of this machine that needs no zone, e.g. 127.0.0.1",
    },
    EMFILE: {
      found: "this process may open too few files",
      remedy: "raise its limit (ulimit -n, LimitNOFILE) to 1024 or more",
    },
    ENOTSUP: {
      found: "HTTP_THREADS is more than 1, and this system cannot share a port between threads",
      remedy: "set HTTP_THREADS to 1",
    },
  };
  const unknown = { found: `HOST and PORT ${port} cannot be listened on (${code})`, remedy: "check both" };
  return new SettingsError([known[code] ?? unknown]);
}
