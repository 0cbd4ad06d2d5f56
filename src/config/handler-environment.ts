import type { ConfigFile } from "./file/config-file.ts";
import { type Environment, isSettingName } from "./settings.ts";

/** The environment of programs and modules that process events: without settings, and without secrets of the file. */
export function handlerEnvironment(environment: Environment, file: ConfigFile | null): Environment {
  const hidden = new Set(file?.secretNames);
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !isSettingName(name) && !hidden.has(name)));
}
