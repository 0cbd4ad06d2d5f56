import { OperatorError } from "../errors.ts";
import { DEFAULT_SOURCE_NAME } from "../webhook/default-source.ts";
import type { Source } from "../webhook/source.ts";
import { remedyForName } from "./option-values.ts";

/** Returns the source of this name. Throws {@link OperatorError} if there is none. */
export function findSource(sources: readonly Source[], name: string): Source {
  const source = sources.find((candidate) => candidate.name === name);
  if (source) return source;
  if (name === DEFAULT_SOURCE_NAME) {
    throw new OperatorError({
      found: `WEBHOOK_SECRET is not set, so there is no source ${name}`,
      remedy: "set it, or name a source of authserve.yaml",
    });
  }
  const names = sources.map((candidate) => candidate.name);
  const remedy = remedyForName(name, names, "authserve sources list");
  throw new OperatorError({ found: `There is no source ${JSON.stringify(name)}`, remedy });
}
