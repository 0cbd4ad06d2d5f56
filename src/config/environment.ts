import { readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { SettingsError, systemCode } from "../errors.ts";

export type Environment = Record<string, string | undefined>;

/** The `.env` file of a folder below the process's environment, which wins. An empty value counts as not set. */
export function readEnvironment(folder = workingDirectory(), own: Environment = process.env): Environment {
  const merged = readEnvFile(`${folder}/.env`);
  for (const [name, value] of Object.entries(own)) if (value !== "") merged[name] = value;
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== "" && value !== undefined));
}

function readEnvFile(file: string): Environment {
  try {
    return parseEnv(readFileSync(file, "utf8").replace(/^\uFEFF/, ""));
  } catch (error) {
    const code = systemCode(error);
    if (code === "ENOENT") return {};
    const remedy = code === "EISDIR" ? "it is a directory, move it away" : "give its owner read access";
    throw new SettingsError([{ found: `.env cannot be read (${code})`, remedy }]);
  }
}

/** The folder that the process runs in. Throws {@link SettingsError} when it is there no more. */
export function workingDirectory(): string {
  try {
    return process.cwd();
  } catch (error) {
    const found = `The working directory cannot be had (${systemCode(error)})`;
    throw new SettingsError([{ found, remedy: "go to the folder of .env" }]);
  }
}
