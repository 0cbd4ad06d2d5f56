import type { IncomingMessage } from "node:http";
import * as v from "valibot";
import { AppError } from "../errors.ts";
import { fieldErrorsOf } from "./body.ts";

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
