import { defaultSource } from "../webhook/default-source.ts";
import { markOf } from "../webhook/signature/secret.ts";
import type { Source } from "../webhook/source.ts";
import { type ConfigFile, readConfigFile } from "./file/config-file.ts";
import { type Environment, readSettings, type Settings } from "./settings.ts";

/** The settings that make the source `default`. */
const SOURCE_SETTING_NAMES = [
  "WEBHOOK_SECRET",
  "WEBHOOK_SECRET_PREVIOUS",
  "WEBHOOK_PATH",
  "WEBHOOK_BODY_LIMIT",
  "WEBHOOK_ALLOWED_ADDRESSES",
  "PUBLIC_URL",
] as const;

/** All sources: `default` if the settings have `WEBHOOK_SECRET`, then those of the configuration file. */
export function sourcesOf(
  settings: Pick<Settings, (typeof SOURCE_SETTING_NAMES)[number]>,
  file: ConfigFile | null,
): Source[] {
  const { WEBHOOK_ALLOWED_ADDRESSES: allowedAddresses, PUBLIC_URL: publicUrl } = settings;
  const publicOrigin = publicUrl === undefined ? undefined : new URL(publicUrl).origin;
  const secrets = (["WEBHOOK_SECRET", "WEBHOOK_SECRET_PREVIOUS"] as const).flatMap((name) => {
    const value = settings[name];
    return value === undefined ? [] : { name: `env:${name}`, value, mark: markOf(value) };
  });
  const others = (file?.sources ?? []).map((source) =>
    publicOrigin === undefined ? source : { ...source, publicOrigin },
  );
  if (settings.WEBHOOK_SECRET === undefined) return others;
  const own = defaultSource({
    path: settings.WEBHOOK_PATH,
    secrets,
    bodyLimitBytes: settings.WEBHOOK_BODY_LIMIT,
    ...(allowedAddresses && { allowedAddresses }),
  });
  return [own, ...others];
}

/** Reads all sources for a command. Throws `SettingsError` for bad settings or a bad file. */
export function readSources(environment: Environment): Source[] {
  return sourcesOf(readSettings(environment, SOURCE_SETTING_NAMES), readConfigFile(environment));
}
