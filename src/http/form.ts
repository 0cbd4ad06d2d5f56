import type { IncomingMessage } from "node:http";
import { AppError } from "../errors.ts";
import { readRawBody, requireMediaType } from "./body.ts";

/**
 * Reads a form as browsers send it (`application/x-www-form-urlencoded`, UTF-8). Throws `unsupported_media_type`,
 * `payload_too_large`, or `validation_failed` for a field that comes twice.
 */
export async function readForm(request: IncomingMessage, limitBytes: number): Promise<Map<string, string>> {
  requireMediaType(request, ["application/x-www-form-urlencoded"]);
  const text = (await readRawBody(request, limitBytes)).toString("utf8");
  const fields = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(text)) {
    if (fields.has(name)) throw new AppError("validation_failed", { errors: [{ path: name, message: "is repeated" }] });
    fields.set(name, value);
  }
  return fields;
}
