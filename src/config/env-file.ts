import { lstatSync, readFileSync, statSync } from "node:fs";
import { parseEnv } from "node:util";
import { type Fault, SettingsError, systemCode } from "../errors.ts";
import { openMode } from "../lib/files.ts";
import { nearest } from "../lib/nearest.ts";
import { ALL_NAMES, type Environment, isSettingName, settingsOnLaterLines, unclosedQuote } from "./settings.ts";

/** Reads `.env` in a folder and the process's environment, which has precedence. An empty value counts as not set. */
export function readEnvironment(folder = workingDirectory(), processEnv: Environment = process.env): Environment {
  const merged = readEnvFile(`${folder}/.env`, processEnv);
  for (const [name, value] of Object.entries(processEnv)) if (value !== "") merged[name] = value;
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== "" && value !== undefined));
}

function readEnvFile(file: string, processEnv: Environment): Environment {
  let content: string;
  try {
    content = readFileSync(file, "utf8");
  } catch (error) {
    const code = systemCode(error);
    if (code === "ENOENT" || code === "ELOOP") {
      if (!lstatSync(file, { throwIfNoEntry: false })) return {};
      const remedy = "remove it, or make the file that it names";
      throw new SettingsError([{ found: ".env is a link that leads nowhere", remedy }]);
    }
    const remedy = code === "EISDIR" ? "it is a directory, move it away" : "give its owner read access";
    throw new SettingsError([{ found: `.env cannot be read (${code})`, remedy }]);
  }
  // A file in UTF-16 has NUL bytes. No line of it could be parsed.
  if (content.includes("\0"))
    throw new SettingsError([{ found: ".env is not text in UTF-8", remedy: "save it as UTF-8" }]);
  content = content.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
  // Node would parse `NAME= ` as having the next line for its value.
  const values = parseEnv(content.replace(/^([^#=\n]+=)[ \t]+$/gm, "$1"));
  const bare = bareNames(content).filter((name) => !processEnv[name]);
  // An unclosed quote ends at the next quote, which is where the value of a later setting begins.
  const faults = Object.entries(values)
    .filter(([, value = ""]) => /\n[^\n]*=[ \t]*$/.test(value) && settingsOnLaterLines(value).some(isSettingName))
    .map(([name]) => unclosedQuote(name))
    .concat(bare.map((name) => ({ found: `${name} has no = after it`, remedy: `write ${name}=VALUE in .env` })));
  if (faults.length > 0) throw new SettingsError(faults);
  return values;
}

// In a shell `export NAME` is valid, so it is not reported.
const BARE_NAME = /^[ \t]*(?:export[ \t]+(?=\w+[ \t]*:))?([A-Za-z_]\w*)(?!\w|[ \t]*=)/gm;
const QUOTED_VALUE = /=[ \t]*(["'`])[\s\S]*?\1/g;

/** Returns settings whose lines Node's parser ignores, e.g. `PORT: 3000`. Lines within a quoted value do not count. */
function bareNames(content: string): string[] {
  return Array.from(content.replace(QUOTED_VALUE, "=").matchAll(BARE_NAME), ([, name = ""]) => name).filter(
    isSettingName,
  );
}

/**
 * Returns a fault for each name that is set only in `.env` and is close to the name of a setting. It takes the result
 * of {@link readEnvironment}, because `.env` may be a pipe, which can be read only once.
 */
export function misspelledNames(environment: Environment, processEnv: Environment = process.env): Fault[] {
  const names = Object.keys(environment).filter((name) => !processEnv[name] && !isSettingName(name));
  return names.flatMap((name) => {
    const meant = nearest(name, ALL_NAMES);
    return meant === undefined ? [] : [{ found: `${name} in .env is not a setting`, remedy: `did you mean ${meant}?` }];
  });
}

/**
 * Returns a fault if other users may read the `.env` of a folder, which has secrets. Null if not, or without the file.
 */
export function envFileModeFault(folder: string): Fault | null {
  const stats = statSync(`${folder}/.env`, { throwIfNoEntry: false });
  const mode = stats && openMode(stats);
  return mode ? { found: `.env has mode ${mode}: others may read it`, remedy: "chmod go= .env" } : null;
}

/** Returns the working directory. Throws {@link SettingsError} if it no longer exists. */
export function workingDirectory(): string {
  try {
    return process.cwd();
  } catch (error) {
    const found = `The working directory cannot be read (${systemCode(error)})`;
    throw new SettingsError([{ found, remedy: "change to the directory of .env" }]);
  }
}
