import { readEnvironment } from "../config/env-file.ts";
import { draftSource, isSourceName } from "../config/file/new-source.ts";
import { fieldError } from "../errors.ts";
import type { ServerContext } from "../operations/operation.ts";
import { providerOf } from "../webhook/providers/index.ts";
import type { Wiring } from "./configuration.ts";

interface DraftNeeds {
  addresses: Pick<ServerContext["addresses"], "public">;
  /** Takes the path of a source that is about to be added. */
  expectPath: (path: string) => void;
}

/** Returns what makes the lines of a source for the configuration file. */
export function draftSources({ file }: Wiring, { addresses, expectPath }: DraftNeeds): ServerContext["draftSource"] {
  return (source) => {
    const provider = providerOf(source.preset);
    if (!provider) throw fieldError("preset", "is not known");
    if (!isSourceName(source.name)) throw fieldError("name", "must be 1 to 64 small letters, digits and -");
    // The file may already name what somebody has just added to `.env`.
    const { lines, needs, faults } = draftSource(source, provider, { file, environment: readEnvironment() });
    const path = source.path ?? `/webhook/${source.name}`;
    expectPath(path);
    return { lines, needs, url: addresses.public + path, file, faults };
  };
}
