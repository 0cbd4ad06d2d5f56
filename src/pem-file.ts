import { readFileSync } from "node:fs";
import { SettingsError, systemCode } from "./errors.ts";

/** Reads the PEM file that a setting names. Throws {@link SettingsError} when it cannot be read. */
export function readPemFile(setting: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    const found = `${setting} cannot be read (${systemCode(error)})`;
    throw new SettingsError([{ found, remedy: "name a readable PEM file" }]);
  }
}
