import { toJsonSchema } from "@valibot/to-json-schema";
import { FileSchema } from "./config-file.ts";
import { NestedMap } from "./when.ts";

/** The JSON Schema of the configuration file, for editors. */
export function configJsonSchema(): object {
  // Some checks cannot be written in JSON Schema, e.g. that paths differ.
  const schema = toJsonSchema(FileSchema, {
    errorMode: "ignore",
    typeMode: "input",
    overrideSchema: ({ valibotSchema }) => (valibotSchema === NestedMap ? { type: "object" } : undefined),
  });
  return { ...schema, title: "The configuration file of authserve" };
}
