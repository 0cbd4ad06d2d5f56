import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { systemCode } from "../../errors.ts";
import { syntaxFaultOf } from "../../worker/transform/expression.ts";
import { key, TEXT } from "./fields.ts";
import type { Reading } from "./reading.ts";
import { map } from "./shape.ts";

/** The expression whose result is sent instead of the payload. */
export const TransformSchema = map(
  {
    jsonata: key(TEXT, "An expression of JSONata, with the content of the event as `$`."),
    file: key(TEXT, "The file with the expression, relative to this file."),
  },
  "expected a map with jsonata or file",
  {
    check(entry, reading) {
      if ("jsonata" in entry === "file" in entry) reading.fault("expected either jsonata or file");
    },
    read({ jsonata, file = "" }, reading) {
      const place = reading.at(jsonata === undefined ? "file" : "jsonata");
      const expression = jsonata ?? readExpression(file, place);
      const fault = expression === null ? null : syntaxFaultOf(expression);
      return fault === null ? expression : place.fault(`found no expression of JSONata: ${fault}`);
    },
  },
);

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
