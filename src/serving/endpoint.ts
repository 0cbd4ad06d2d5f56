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

/** The address to listen on; undefined means all. */
export function hostOf(settings: Pick<Settings, "HOST" | "TLS_CERT_FILE">): string | undefined {
  return settings.HOST ?? (servesTls(settings) ? undefined : "127.0.0.1");
}

/** Whether a host, also as it stands in a URL, is this machine and nobody else's. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[(.*)\]$/, "$1");
  return /^(?:localhost|127\.[0-9.]+|::1)$/i.test(canonicalAddress(bare) ?? bare);
}

/** How clients reach the server. */
export function urlOf(settings: Settings, port: number): string {
  return `${servesTls(settings) ? "https" : "http"}://${displayHost(hostOf(settings))}:${port}`;
}

function displayHost(host: string | undefined): string {
  if (host === undefined || host === "0.0.0.0" || host === "::") return "localhost";
  return host.includes(":") ? `[${host}]` : host;
}
