import { type AddressInfo, createServer, type Server } from "node:net";
import { type Fault, SettingsError, systemCode } from "../errors.ts";
import { canonicalAddress } from "./client-address.ts";

/** Where a server listens, as the settings say. */
export interface Endpoint {
  HOST?: string | undefined;
  /** With one the server speaks TLS. */
  TLS_CERT_FILE?: string | undefined;
}

/** The address to listen on; undefined means all. */
export function hostOf({ HOST, TLS_CERT_FILE }: Endpoint): string | undefined {
  return HOST ?? (TLS_CERT_FILE === undefined ? "127.0.0.1" : undefined);
}

/** Whether a host, also as it stands in a URL, is this machine and nobody else's. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[(.*)\]$/, "$1");
  return /^(?:localhost|127\.[0-9.]+|::1)$/i.test(canonicalAddress(bare) ?? bare);
}

/** How clients reach the server; `anyHost` stands for a server that listens on all addresses. */
export function urlOf(endpoint: Endpoint, port: number, anyHost = "localhost"): string {
  const host = hostOf(endpoint) ?? anyHost;
  const shown = /^(?:0\.0\.0\.0|::)$/.test(host) ? anyHost : host;
  const scheme = endpoint.TLS_CERT_FILE === undefined ? "http" : "https";
  return `${scheme}://${shown.includes(":") ? `[${shown}]` : shown}:${port}`;
}

/** Starts listening; without `host` on all addresses. Returns the port. Throws {@link SettingsError} when the address cannot be had. */
export function listen(server: Server, address: { port: number; host: string | undefined }): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", (error) => reject(listenFailure(systemCode(error), address.port)));
    server.listen(address, () => resolve((server.address() as AddressInfo).port));
  });
}

/** The port of an address that nobody listens on now. Throws {@link SettingsError} when it cannot be had. */
export async function findPort(address: { port: number; host: string | undefined }): Promise<number> {
  const server = createServer();
  const port = await listen(server, address);
  await new Promise((resolve) => server.close(resolve));
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
  };
  const unknown = { found: `HOST and PORT ${port} cannot be listened on (${code})`, remedy: "check both" };
  return new SettingsError([known[code] ?? unknown]);
}
