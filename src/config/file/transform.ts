import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import * as v from "valibot";
import { systemCode } from "../../errors.ts";
import { syntaxFaultOf } from "../../worker/transform/expression.ts";
import { key, TEXT } from "./fields.ts";
import type { Reading } from "./reading.ts";
import type { Known } from "./shape.ts";

/** What is sent instead of the payload. */
export const TransformSchema = v.strictObject(
  {
    jsonata: key(TEXT, "An expression of JSONata, with the content of the event as `$`."),
    file: key(TEXT, "The file with the expression, relative to this file."),
  },
  "expected a map with jsonata or file",
);

type TransformEntry = Known<v.InferOutput<typeof TransformSchema>>;

/** Reads the expression of a route; null if it has a fault. */
export function readTransform({ jsonata, file }: TransformEntry, reading: Reading): string | null {
  if ((jsonata === undefined) === (file === undefined)) {
    if (!reading.isWrong) reading.fault("expected either jsonata or file");
    return null;
  }
  const expression = jsonata ?? readExpression(file ?? "", reading.at("file"));
  if (expression === null) return null;
  const fault = syntaxFaultOf(expression);
  return fault === null
    ? expression
    : reading.at(jsonata === undefined ? "file" : "jsonata").fault(`found no expression of JSONata: ${fault}`);
}

function readExpression(name: string, reading: Reading): string | null {
  const { folder, modules } = reading.context;
  const file = resolve(folder, name);
  // A change of it is a change of the configuration.
  modules.add(file);
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    return reading.fault(`found a file that cannot be read (${systemCode(error)}), expected a readable one`);
  }
}
