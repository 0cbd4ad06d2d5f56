import type { Settings } from "../config/settings.ts";
import { canonicalAddress } from "../http/client-address.ts";
import { createTlsFiles, type TlsFiles } from "../http/tls.ts";

export type TlsSettings = Pick<Settings, "TLS_CERT_FILE" | "TLS_KEY_FILE">;

/** The certificate and key that are served; undefined without TLS. */
export function tlsFilesOf({ TLS_CERT_FILE, TLS_KEY_FILE }: TlsSettings): TlsFiles | undefined {
  if (TLS_CERT_FILE === undefined || TLS_KEY_FILE === undefined) return undefined;
  return createTlsFiles(TLS_CERT_FILE, TLS_KEY_FILE);
}

/** The settings take the certificate and the key together or not at all. */
function servesTls({ TLS_CERT_FILE }: Pick<Settings, "TLS_CERT_FILE">): boolean {
  return TLS_CERT_FILE !== undefined;
}

type AddressSettings = Pick<Settings, "HOST" | "TLS_CERT_FILE">;

/** The address to listen on; undefined means all. */
export function hostOf(settings: AddressSettings): string | undefined {
  return settings.HOST ?? (servesTls(settings) ? undefined : "127.0.0.1");
}

/** Whether a host, also as it stands in a URL, is this machine and nobody else's. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[(.*)\]$/, "$1");
  return /^(?:localhost|127\.[0-9.]+|::1)$/i.test(canonicalAddress(bare) ?? bare);
}

/** How clients reach the server; `anyHost` stands for a server that listens on all addresses. */
export function urlOf(settings: AddressSettings, port: number, anyHost = "localhost"): string {
  const host = hostOf(settings) ?? anyHost;
  const shown = /^(?:0\.0\.0\.0|::)$/.test(host) ? anyHost : host;
  return `${servesTls(settings) ? "https" : "http"}://${shown.includes(":") ? `[${shown}]` : shown}:${port}`;
}
