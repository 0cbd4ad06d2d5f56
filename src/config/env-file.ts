import { lstatSync, readFileSync, statSync } from "node:fs";
import { parseEnv } from "node:util";
import { type Fault, SettingsError, systemCode } from "../errors.ts";
import { openMode } from "../lib/files.ts";
import { nearest } from "../lib/nearest.ts";
import { ALL_NAMES, type Environment, isOurs, namesHeld, openQuote } from "./settings.ts";

/** The `.env` file of a folder below the process's environment, which wins. An empty value counts as not set. */
export function readEnvironment(folder = workingDirectory(), own: Environment = process.env): Environment {
  const merged = readEnvFile(`${folder}/.env`, own);
  for (const [name, value] of Object.entries(own)) if (value !== "") merged[name] = value;
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== "" && value !== undefined));
}

function readEnvFile(file: string, own: Environment): Environment {
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
  // As UTF-16 has it, of which not one line would be understood.
  if (content.includes("\0"))
    throw new SettingsError([{ found: ".env is not text in UTF-8", remedy: "save it as UTF-8" }]);
  content = content.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
  // Node would take the line behind an empty value that has blanks for the value.
  const values = parseEnv(content.replace(/^([^#=\n]+=)[ \t]+$/gm, "$1"));
  const unread = unreadNames(content).filter((name) => !own[name]);
  // A quote that swallows a setting ends where the value of a further one begins.
  const faults = Object.entries(values)
    .filter(([, value = ""]) => /\n[^\n]*=[ \t]*$/.test(value) && namesHeld(value).some(isOurs))
    .map(([name]) => openQuote(name))
    .concat(unread.map((name) => ({ found: `${name} has no = behind it`, remedy: `write ${name}=VALUE in .env` })));
  if (faults.length > 0) throw new SettingsError(faults);
  return values;
}

// A shell also takes `export NAME` for a variable that it has.
const WITHOUT_VALUE = /^[ \t]*(?:export[ \t]+(?=\w+[ \t]*:))?([A-Za-z_]\w*)(?!\w|[ \t]*=)/gm;
const QUOTED_VALUE = /=[ \t]*(["'`])[\s\S]*?\1/g;

/** Settings whose lines Node's parser passes over, e.g. `PORT: 3000`. Lines of a value in quotes are none. */
function unreadNames(content: string): string[] {
  return Array.from(content.replace(QUOTED_VALUE, "=").matchAll(WITHOUT_VALUE), ([, name = ""]) => name).filter(isOurs);
}

/**
 * Names that {@link readEnvironment} has found in `.env` alone, that are no setting, and likely meant to be one. The file
 * is not read again: a pipe gives its content once.
 */
export function misspeltNames(environment: Environment, own: Environment = process.env): Fault[] {
  const names = Object.keys(environment).filter((name) => !own[name] && !isOurs(name));
  return names.flatMap((name) => {
    const meant = nearest(name, ALL_NAMES);
    return meant === undefined ? [] : [{ found: `${name} in .env is no setting`, remedy: `is ${meant} meant?` }];
  });
}

/** What is wrong with the mode of the `.env` file of a folder: it holds secrets. Null when nothing is, or there is none. */
export function openEnvFile(folder: string): Fault | null {
  const stats = statSync(`${folder}/.env`, { throwIfNoEntry: false });
  const mode = stats && openMode(stats);
  return mode ? { found: `.env has mode ${mode}: others may read it`, remedy: "chmod go= .env" } : null;
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
