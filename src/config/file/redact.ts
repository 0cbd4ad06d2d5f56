import * as v from "valibot";
import { FORM, isJson, isJsonLines, NAMED_JSON } from "../../lib/header-value.ts";
import { namesOfPath } from "../../lib/redact-json.ts";
import { isInQuery } from "../../webhook/content/body.ts";
import { redactedPlace } from "../../webhook/content/redact.ts";
import type { Source } from "../../webhook/source.ts";
import { listOf, textLike } from "./fields.ts";
import type { Reading } from "./reading.ts";

// The forms of JSONPath and JSON Pointer would name nothing, and so redact nothing.
const REDACTED_PATH = textLike(
  /^(?![\s/]|\$(?:\.|$)|.*\[[\d*'"\]])[^.]+(?:\.[^.]+)*(?<!\s)$/,
  "expected names with dots between them, e.g. data.**.email or items.0",
);

/** Members of a payload that are replaced before anything is stored. */
export const RedactSchema = listOf(
  v.pipe(REDACTED_PATH, v.transform(namesOfPath)),
  "path",
  "expected a list such as [data.card]",
);

/** Members of JSON and of forms can be redacted, but for those that make an event known. */
export function checkRedact(source: Omit<Source, "secrets">, reading: Reading): void {
  const { redact, contentTypes, methods = ["POST"] } = source;
  if (redact === undefined) return;
  const others = contentTypes.filter((type) => !isJson(type) && !isJsonLines(type) && type !== FORM);
  const wide = others.filter((type) => type.includes("*") && type !== NAMED_JSON);
  const isRedactable = others.length < contentTypes.length || wide.length > 0 || methods.some(isInQuery);
  if (!isRedactable)
    reading.fault(`found at a source of ${contentTypes.join(", ")}, expected a source of JSON or forms`, "key");
  else if (others.some((type) => type !== NAMED_JSON))
    reading.warn(
      `refuses deliveries of ${others.join(", ")} that are neither JSON nor an urlencoded form: nothing else can be redacted`,
    );
  const identity = redactedPlace(redact, source);
  if (identity !== undefined)
    reading.fault(`found a path that has ${identity}, by which events are known, expected another path`);
}
