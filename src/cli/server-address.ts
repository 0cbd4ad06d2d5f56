import type { Settings } from "../config/settings.ts";
import { SettingsError } from "../errors.ts";
import { urlOf } from "../http/listen.ts";

/** The settings that say where the server of this folder listens. */
export const ADDRESS_NAMES = ["PORT", "HOST", "TLS_CERT_FILE", "TLS_KEY_FILE"] as const;

export type AddressSettings = Pick<Settings, (typeof ADDRESS_NAMES)[number]>;

/** Where the server of these settings is reached from this machine. Throws {@link SettingsError} when they do not say. */
export function serverUrl(settings: AddressSettings): string {
  if (settings.PORT === 0) {
    const remedy = "set PORT to the one that the server's start line names";
    throw new SettingsError([{ found: "PORT is 0, which is another port at each start", remedy }]);
  }
  return urlOf(settings, settings.PORT, "127.0.0.1");
}
