import type { Settings } from "../config/settings.ts";
import type { ConnectionLimits } from "../http/connection-limits.ts";
import { isLoopback } from "../http/listen.ts";
import { isTrusted } from "../http/proxies.ts";
import { createTlsFiles } from "../http/tls.ts";
import type { Metrics } from "../metrics.ts";

/** The limits of connections. This machine and trusted proxies are exempt from that of an address. */
export function connectionLimitsOf(settings: Settings, metrics: Metrics): ConnectionLimits {
  return {
    all: settings.MAX_CONNECTIONS,
    perAddress: settings.MAX_CONNECTIONS_PER_ADDRESS,
    isExempt: (address) => isLoopback(address) || isTrusted(address, settings.TRUSTED_PROXIES),
    onRefused: (limit) => metrics.refusedConnections.inc({ limit }),
  };
}

/** The certificate and key that are served; undefined without TLS. */
export function tlsFilesOf({ TLS_CERT_FILE, TLS_KEY_FILE }: Settings) {
  if (TLS_CERT_FILE === undefined || TLS_KEY_FILE === undefined) return undefined;
  return createTlsFiles(TLS_CERT_FILE, TLS_KEY_FILE);
}
