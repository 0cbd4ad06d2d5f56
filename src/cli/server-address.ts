import type { Settings } from "../config/settings.ts";

/** The settings that say where the server of this folder listens. */
export const ADDRESS_NAMES = ["PORT", "HOST", "TLS_CERT_FILE", "TLS_KEY_FILE"] as const;

/** Where the server of these settings is reached from this machine. */
export function serverUrl(settings: Pick<Settings, (typeof ADDRESS_NAMES)[number]>): string {
  const scheme = settings.TLS_CERT_FILE === undefined ? "http" : "https";
  const host = settings.HOST === undefined || /^(?:0\.0\.0\.0|::)$/.test(settings.HOST) ? "127.0.0.1" : settings.HOST;
  return `${scheme}://${host.includes(":") ? `[${host}]` : host}:${settings.PORT}`;
}
