import { SettingsError } from "../../errors.ts";
import { printable } from "../../lib/printable.ts";

/** A fault of the configuration file, at a line and column from 1. */
export interface FileFault {
  line: number;
  column: number;
  /** The path of the key, with dots. */
  key: string;
  /** What was found, and what is expected. */
  message: string;
}

/** A configuration file that cannot be used. Each line of the message is `FILE:LINE:COLUMN key: fault`. */
export class ConfigFileError extends SettingsError {
  readonly lines: readonly string[];
  readonly fileFaults: readonly FileFault[];
  /** The files of modules that the file names, which may be missing. */
  readonly modules: readonly string[];

  constructor(file: string, faults: readonly FileFault[], modules: readonly string[]) {
    super(faults.map((fault) => ({ found: lineOf(file, fault), remedy: "correct the file" })));
    this.name = "ConfigFileError";
    this.lines = faults.map((fault) => lineOf(file, fault));
    this.message = this.lines.join("\n");
    this.fileFaults = faults;
    this.modules = modules;
  }
}

/** A fault in one line. */
export function lineOf(file: string, { line, column, key, message }: FileFault): string {
  return `${file}:${line}:${column} ${key === "" ? "" : `${printable(key)}: `}${message}`;
}
