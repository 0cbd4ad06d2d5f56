import { markOf } from "../../src/webhook/secrets/secret-mark.ts";
import type { Secret } from "../../src/webhook/source.ts";

/** The secret of a source. */
export function secretOf(value: string, name = "env:SECRET"): Secret {
  return { name, value, mark: markOf(value) };
}
