import { readFileSync } from "node:fs";
import { type Fault, SettingsError, systemCode } from "./errors.ts";

/** Reads the PEM file that a setting names. Throws {@link SettingsError} when it cannot be read. */
export function readPemFile(setting: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new SettingsError([unreadablePem(setting, systemCode(error))]);
  }
}

/** What it means to the operator that a PEM file cannot be read. */
export function unreadablePem(setting: string, code: string): Fault {
  return { found: `${setting} cannot be read (${code})`, remedy: "name a readable PEM file" };
}
