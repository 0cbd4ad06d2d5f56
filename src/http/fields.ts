import type { IncomingMessage } from "node:http";
import * as v from "valibot";
import { AppError, fieldError } from "../errors.ts";
import { requireMediaType } from "../lib/body-headers.ts";
import { fieldErrorsOf, readRawBody } from "./body.ts";

/**
 * Reads the query of a request and validates it: each parameter is a text. Throws `validation_failed` with the names of
 * unknown, repeated and invalid parameters.
 */
export function readQuery<Schema extends v.ObjectSchema<v.ObjectEntries, undefined>>(
  request: IncomingMessage,
  schema: Schema,
): v.InferOutput<Schema> {
  const given = new URL(request.url ?? "", "http://localhost").searchParams;
  const names = [...new Set(given.keys())];
  const repeated = names.filter((name) => given.getAll(name).length > 1);
  const result = v.safeParse(schema, Object.fromEntries(given));
  const errors = [
    ...repeated.map((path) => ({ path, message: "is given twice" })),
    ...fieldErrorsOf(schema, names, result.issues),
  ];
  if (!result.success || errors.length > 0) throw new AppError("validation_failed", { errors });
  return result.output;
}

/**
 * Reads a form as browsers send it (`application/x-www-form-urlencoded`, UTF-8). Throws `unsupported_media_type`,
 * `payload_too_large`, or `validation_failed` for a field that comes twice.
 */
export async function readForm(request: IncomingMessage, limitBytes: number): Promise<Map<string, string>> {
  requireMediaType(request, ["application/x-www-form-urlencoded"]);
  const text = (await readRawBody(request, limitBytes)).toString("utf8");
  const fields = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(text)) {
    if (fields.has(name)) throw fieldError(name, "is repeated");
    fields.set(name, value);
  }
  return fields;
}
