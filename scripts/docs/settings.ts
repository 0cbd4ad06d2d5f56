import * as v from "valibot";
import type { Setting } from "../../src/config/setting.ts";
import { SETTING_GROUPS } from "../../src/config/settings.ts";
import { code, list, page } from "./markdown.ts";

/** The page of settings: a section for each group, and in it one for each setting. */
export function settingsPage(): string {
  return page(
    "Settings",
    "Settings come from the environment and from `.env` in the working directory.",
    list([
      "The environment overrides `.env`. An empty value counts as not set.",
      "In `.env`, put a value with `#`, `$` or spaces into single quotes.",
      "A setting marked secret may come as `NAME_FILE` instead, the path of a file that holds the value.",
      "A duration is a whole number and `ms`, `s`, `m`, `h` or `d`. A size is a number of bytes, or one with `k`, `m` or `g`.",
      "Addresses are listed with commas between them, as single addresses or CIDR ranges.",
      "A bad setting stops the start with exit code 2. The report names every bad setting and shows no value.",
    ]),
    ...Object.entries(SETTING_GROUPS).flatMap(([title, settings]) => [
      `## ${title}`,
      ...Object.entries(settings).flatMap(([name, setting]) => describe(name, setting)),
    ]),
  );
}

function describe(name: string, setting: Setting): string[] {
  const { meaning, example, secret } = setting;
  const facts = [
    `Type: ${typeOf(setting)}${secret ? ", secret" : ""}`,
    `Default: ${defaultOf(setting)}`,
    `Example: ${code(`${name}${secret ? "_FILE" : ""}=${example}`)}`,
  ];
  return [`### ${name}`, meaning, list(facts)];
}

function typeOf({ schema }: Setting): string {
  const type = v.getDescription(isOptional(schema) ? schema.wrapped : schema);
  if (type === undefined) throw new Error("a field has no description");
  return type;
}

function defaultOf({ schema, defaultText = "none" }: Setting): string {
  if (!isOptional(schema)) return "none, required";
  return schema.default === undefined ? defaultText : code(String(schema.default));
}

type Optional = v.OptionalSchema<v.GenericSchema<string, unknown>, string | undefined>;

function isOptional(schema: v.GenericSchema<string | undefined, unknown>): schema is Optional {
  return schema.type === "optional";
}
