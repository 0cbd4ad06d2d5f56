import type * as v from "valibot";

/** A setting: how it is parsed, and its text in the reference. */
export interface Setting {
  schema: v.GenericSchema<string | undefined, unknown>;
  meaning: string;
  /** An example value; for a secret, the path of its file. */
  example: string;
  /** The default for the reference, if the schema has none. */
  defaultText?: string;
  /** Whether `NAME_FILE`, the path of a file with the value, is accepted, too. */
  secret?: true;
}

/** The settings of a topic. */
export type Group = Record<string, Setting>;
