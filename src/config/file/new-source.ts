import { randomBytes } from "node:crypto";
import { NAME } from "../../lib/name.ts";
import { DEFAULT_SOURCE_NAME } from "../../webhook/default-source.ts";
import type { Provider } from "../../webhook/provider.ts";
import { needsOf } from "../../webhook/signature/schemes.ts";
import type { Environment } from "../settings.ts";
import { configText, readConfigText } from "./config-file.ts";
import { ConfigFileError } from "./errors.ts";
import { appendToMap } from "./yaml-document.ts";

/** A source of a preset that somebody wants to add. */
interface NewSource {
  name: string;
  preset: string;
  /** By default `/webhook/` and the name. */
  path?: string | undefined;
  expectEvery?: string | undefined;
}

/** A value that a source needs, such as its secret. */
interface NeededValue {
  /** What it is: `secret`, `key`, or the name of an option. */
  is: string;
  /** The variable that has it. */
  variable: string;
}

/** A change of the configuration file that was checked. */
interface SourceDraft {
  /** The lines of the source, under `sources`. */
  lines: string[];
  needs: NeededValue[];
  /** What is wrong, a line each. */
  faults: string[];
}

/** Whether the page can show a source of this name, and the file can have it. */
export const isSourceName = (name: string) => NAME.test(name) && name !== DEFAULT_SOURCE_NAME;

/** What a source of a provider needs, each with a variable of its own. */
function neededValues(name: string, { schemes, options = {}, keysUrl, keys }: Provider): NeededValue[] {
  const prefix = variableOf(name);
  const kinds = new Set(schemes.map(needsOf));
  const credential = kinds.has("secrets") ? "secret" : "key";
  const isNeeded = keysUrl === undefined && keys === undefined && kinds.size > 0;
  const wanted = Object.entries(options).filter(([, { without, default: usual }]) => (without ?? usual) === undefined);
  return [
    ...(isNeeded ? [{ is: credential, variable: `${prefix}_${credential.toUpperCase()}` }] : []),
    ...wanted.map(([option]) => ({ is: option, variable: `${prefix}_${variableOf(option)}` })),
  ];
}

/** E.g. `WEBHOOK_ID` of `webhookId`. */
const variableOf = (name: string) =>
  name
    .replace(/([a-z])([A-Z])/g, "$1_$2")
    .replace(/[^A-Za-z0-9]+/g, "_")
    .replace(/^([0-9])/, "_$1")
    .toUpperCase();

function linesOf({ name, preset, path, expectEvery }: NewSource, needs: readonly NeededValue[]): string[] {
  const credentials = needs.filter(({ is }) => is === "secret" || is === "key");
  const options = needs.filter((needed) => !credentials.includes(needed));
  const members = [
    `preset: ${preset}`,
    ...(path === undefined ? [] : [`path: ${JSON.stringify(path)}`]),
    ...credentials.map(({ is, variable }) => `${is}s: [env:${variable}]`),
    ...(options.length === 0
      ? []
      : [`options: { ${options.map(({ is, variable }) => `${is}: env:${variable}`).join(", ")} }`]),
    ...(expectEvery === undefined ? [] : [`expectEvery: ${JSON.stringify(expectEvery)}`]),
  ];
  return [`${name}: { ${members.join(", ")} }`];
}

/**
 * Writes the lines of a source, and checks the file with them. Values that are not set yet are made up. Nothing is
 * written.
 */
export function draftSource(
  source: NewSource,
  provider: Provider,
  { file, environment }: { file: string; environment: Environment },
): SourceDraft {
  const needs = neededValues(source.name, provider);
  const lines = linesOf(source, needs);
  const text = appendToMap(configText(file, environment) ?? "", "sources", lines);
  if (text === null) return { lines, needs, faults: [] };
  const known = needs.map(
    ({ is, variable }) => [variable, environment[variable] || placeholderFor(is, provider)] as const,
  );
  const given = Object.fromEntries(known);
  const missing = known.flatMap(([variable, value]) => (value === undefined ? [variable] : []));
  return { lines, needs, faults: faultsOf(text, { ...environment, ...given }) };

  function faultsOf(whole: string, withValues: Environment): string[] {
    try {
      readConfigText(whole, file, withValues);
      return [];
    } catch (error) {
      if (!(error instanceof ConfigFileError)) throw error;
      const isMissing = (message: string) =>
        missing.some((variable) => message.includes(`env:${variable}, which is not set`));
      return error.fileFaults.flatMap(({ message }, index) =>
        isMissing(message) ? [] : [error.lines[index] ?? message],
      );
    }
  }
}

/** Stands for a value that is not known yet, so that the rest is checked. There is none for a public key. */
function placeholderFor(is: string, { schemes }: Provider): string | undefined {
  if (is === "key") return undefined;
  // As hex it has the form of every scheme but that of user and password.
  const text = randomBytes(32).toString("hex");
  return is === "secret" && schemes.every(({ type }) => type === "basic") ? `user:${text}` : text;
}
