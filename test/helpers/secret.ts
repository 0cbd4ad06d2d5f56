import { markOf, type Secret } from "../../src/webhook/signature/secret.ts";

/** The secret of a source. */
export function secretOf(value: string, name = "env:SECRET"): Secret {
  return { name, value, mark: markOf(value) };
}
