import { copyFileSync, lstatSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { readEnvironment } from "../config/env-file.ts";
import { draftSource, isSourceName, linesOf, type NeededValue } from "../config/file/new-source.ts";
import { appendToMap } from "../config/file/yaml-document.ts";
import { AppError, fieldError, systemCode } from "../errors.ts";
import { makeDir, replaceFile } from "../lib/files.ts";
import type { NewSource, ServerContext } from "../operations/operation.ts";
import { providerOf } from "../webhook/providers/index.ts";
import type { Wiring } from "./configuration.ts";

interface NewSourceNeeds {
  addresses: Pick<ServerContext["addresses"], "public">;
  /** Takes the path of a source that is about to be added. */
  expectPath: (path: string) => void;
}

/** Adds sources to the configuration file. */
export function openNewSources(wiring: Wiring, { addresses, expectPath }: NewSourceNeeds): ServerContext["newSources"] {
  const { settings, stores, log } = wiring;

  function draft(source: NewSource) {
    const provider = providerOf(source.preset);
    if (!provider) throw fieldError("preset", "is not known");
    if (!isSourceName(source.name)) throw fieldError("name", "must be 1 to 64 small letters, digits and -");
    // The file may already name what somebody has just added to `.env`.
    const context = { file: wiring.file, environment: readEnvironment(), values: source.values };
    return draftSource(source, provider, context);
  }

  const urlOf = (path: string) => addresses.public + path;
  const pathOf = ({ name, path }: NewSource) => path ?? `/webhook/${name}`;

  return {
    draft(source) {
      const { lines, needs, text, faults } = draft(source);
      expectPath(pathOf(source));
      return {
        lines,
        needs,
        url: urlOf(pathOf(source)),
        file: wiring.file,
        faults,
        writable: settings.CONFIG_WRITE === "on" && text !== null,
      };
    },
    add(source) {
      if (settings.CONFIG_WRITE !== "on") throw fieldError("", "needs CONFIG_WRITE=on");
      const { needs, text, faults } = draft(source);
      const [fault] = faults;
      if (fault !== undefined) throw fieldError("", fault);
      const missing = needs.find(({ is }) => !source.values[is]);
      if (missing) throw fieldError(`values.${missing.is}`, "is missing");
      if (text === null) throw fieldError("", `${wiring.file} has its sources in braces: add the lines by hand`);
      const backup = write(source, needs);
      log.info({ event: "config_written", file: wiring.file, backup, source: source.name }, `added ${source.name}`);
      return { file: wiring.file, backup, url: urlOf(pathOf(source)) };
    },
  };

  /** Writes the secrets, and adds the source to the file. Returns the name of the file before. */
  function write(source: NewSource, needs: readonly NeededValue[]): string | null {
    const { file } = wiring;
    const lines = linesOf(source, needs, ({ variable }) => `file:${SECRETS}/${variable}`);
    try {
      const folder = join(dirname(file), SECRETS);
      if (needs.length > 0) makeDir(folder);
      for (const { is, variable } of needs)
        replaceFile(join(folder, variable), source.values[is] ?? "", { mode: 0o600, flush: true });
      return replaceConfigFile(file, lines, stores.now());
    } catch (error) {
      if (error instanceof AppError) throw error;
      throw fieldError("", `${file} cannot be written (${systemCode(error)})`);
    }
  }
}

/** Adds lines to the sources of a file, and keeps the file before. Returns the name of that; null if there was none. */
function replaceConfigFile(file: string, lines: readonly string[], now: number): string | null {
  const stats = lstatSync(file, { throwIfNoEntry: false });
  // A link, such as that of a ConfigMap, would be replaced by a file.
  if (stats && !stats.isFile()) throw fieldError("", `${file} is a link: change what it leads to`);
  const after = appendToMap(stats ? readFileSync(file, "utf8") : "", "sources", lines);
  if (after === null) throw fieldError("", `${file} has changed meanwhile: try again`);
  if (!stats) {
    replaceFile(file, after, { mode: 0o600, flush: true });
    return null;
  }
  const backup = `${file}.${new Date(now).toISOString().replaceAll(":", "-")}.bak`;
  copyFileSync(file, backup);
  replaceFile(file, after, { mode: stats.mode & 0o777, flush: true });
  return backup;
}

/** The folder of secrets, beside the configuration file. */
const SECRETS = "secrets";
