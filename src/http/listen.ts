import { type AddressInfo, createServer, isIP, type Server } from "node:net";
import { type Fault, SettingsError, systemCode } from "../errors.ts";
import { canonicalAddress, isLocalAddress } from "./proxies.ts";

/** The settings that say where a server listens. */
interface ListenSettings {
  HOST?: string | undefined;
  /** If set, the server speaks TLS. */
  TLS_CERT_FILE?: string | undefined;
}

/** The address to listen on; undefined means all addresses. */
export function hostOf({ HOST, TLS_CERT_FILE }: ListenSettings): string | undefined {
  return HOST ?? (TLS_CERT_FILE === undefined ? "127.0.0.1" : undefined);
}

/** A host of a URL without the brackets of an IPv6 address. */
export const bareHost = (host: string) => host.replace(/^\[(.*)\]$/, "$1");

/** Whether a host, also as written in a URL, is a loopback address. */
export function isLoopback(host: string): boolean {
  const bare = bareHost(host);
  return /^(?:localhost|127\.[0-9.]+|::1)$/i.test(canonicalAddress(bare) ?? bare);
}

// RFC 6762, RFC 8375, ICANN's resolution 2024.07.29.06; routers give out `.lan`. The last ones are names without a dot.
const LOCAL_NAME = /\.(?:local|home\.arpa|internal|lan)$|^[^.]+$/;

/** Whether a host, as written in a URL, is an address or a name of a local network, or loopback. */
export function isLocalHost(host: string): boolean {
  const bare = bareHost(host);
  return isIP(bare) === 0 ? LOCAL_NAME.test(bare) : isLocalAddress(bare);
}

/** The URL of the server. `anyHost` is the host to show when the server listens on all addresses. */
export function urlOf(settings: ListenSettings, port: number, anyHost = "localhost"): string {
  const host = hostOf(settings) ?? anyHost;
  const shown = /^(?:0\.0\.0\.0|::)$/.test(host) ? anyHost : host;
  const scheme = settings.TLS_CERT_FILE === undefined ? "http" : "https";
  return `${scheme}://${shown.includes(":") ? `[${shown}]` : shown}:${port}`;
}

/**
 * The address under which browsers reach the server, without a final `/`: the configured one, or on loopback the URL of
 * the server. Null if it is not known.
 */
export function publicUrlOf(
  settings: ListenSettings & { PUBLIC_URL?: string | undefined },
  url: string,
): string | null {
  return settings.PUBLIC_URL ?? (isLoopback(hostOf(settings) ?? "") ? url : null);
}

/**
 * Starts listening, without `host` on all addresses. Returns the port. Throws {@link SettingsError} when it cannot
 * listen. `onError` gets later errors, such as a connection that could not be accepted. The server goes on.
 */
export function listen(
  server: Server,
  address: { port: number; host: string | undefined },
  onError: (error: Error) => void,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => reject(listenFailure(systemCode(error), address.port));
    server.once("error", fail);
    server.listen(address, () => {
      server.off("error", fail);
      server.on("error", onError);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

/** Returns a free port: the given one, or any if it is 0. Throws {@link SettingsError} when it cannot listen there. */
export async function findPort(address: { port: number; host: string | undefined }): Promise<number> {
  const server = createServer();
  const port = await listen(server, address, () => {});
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const UNRESOLVED: Fault = { found: "HOST cannot be resolved", remedy: "set HOST to an address of this machine" };

/** Explains to the operator why the server cannot listen. */
export function listenFailure(code: string, port: number): SettingsError {
  const known: Record<string, Fault> = {
    EADDRINUSE: { found: `PORT ${port} is in use`, remedy: "stop the program that uses it, or set another PORT" },
    EACCES: {
      found: `PORT ${port} needs privileges`,
      remedy: "set a PORT above 1023, or grant CAP_NET_BIND_SERVICE",
    },
    EADDRNOTAVAIL: {
      found: "HOST is not an address of this machine",
      remedy: "set HOST to an address of this machine",
    },
    ENOTFOUND: UNRESOLVED,
    EAI_AGAIN: UNRESOLVED,
    EINVAL: {
      found: "HOST is not usable",
      remedy: "set HOST to an address that needs no zone, e.g. 127.0.0.1",
    },
    EMFILE: {
      found: "the limit of open files is too low",
      remedy: "raise it (ulimit -n, LimitNOFILE) to 1024 or more",
    },
  };
  const unknown = { found: `cannot listen on HOST and PORT ${port} (${code})`, remedy: "check both settings" };
  return new SettingsError([known[code] ?? unknown]);
}

/** The URL of the admin page; empty if there is none. `publicUrl` may be empty. */
export const pageUrlOf = ({ ADMIN }: { ADMIN: string }, publicUrl: string) =>
  ADMIN === "off" || publicUrl === "" ? "" : `${publicUrl}/admin/`;
