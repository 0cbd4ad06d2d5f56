import { toJsonSchema } from "@valibot/to-json-schema";
import { FileSchema } from "./config-file.ts";
import { ConditionsSchema } from "./when.ts";
import { WHEN_DEFINITIONS, WHEN_REFERENCE } from "./when-schema.ts";

/** The JSON Schema of the configuration file, for editors. */
export function configJsonSchema(): object {
  // Some checks cannot be written in JSON Schema, e.g. that paths differ.
  const schema = toJsonSchema(FileSchema, {
    errorMode: "ignore",
    typeMode: "input",
    overrideSchema: ({ valibotSchema }) => (valibotSchema === ConditionsSchema ? WHEN_REFERENCE : undefined),
  });
  return { ...schema, title: "The configuration file of authserve", definitions: WHEN_DEFINITIONS };
}
