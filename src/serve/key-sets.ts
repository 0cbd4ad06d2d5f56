import type { ConfigFile } from "../config/file/config-file.ts";
import { sourcesOf } from "../config/sources.ts";
import { freshMsOf, openKeySetCopies } from "../webhook/signature/key-set.ts";
import { createKeySets, type KeySets, keySetsOf } from "../webhook/signature/key-sets.ts";
import type { Wiring } from "./configuration.ts";
import { fetchDocument } from "./fetch-document.ts";

/** The sets of public keys of the sources. */
export interface SourceKeys extends Omit<KeySets, "apply" | "tried"> {
  /** Uses the sets of a configuration file that was read again. */
  apply(file: ConfigFile | null): void;
  /** Resolves when the sets that were never read have been tried, after ten seconds at the latest. */
  tried(): Promise<void>;
}

// The largest known one has some 10 KiB.
const MAX_SET_BYTES = 1024 * 1024;

/** Begins to read the sets of all sources. */
export function openKeySets({ settings, config, stores, log }: Wiring): SourceKeys {
  const sets = createKeySets({
    async read({ place }, signal) {
      const { text, cacheControl } = await fetchDocument(place, MAX_SET_BYTES, signal);
      return { text, freshMs: freshMsOf(cacheControl) };
    },
    copies: openKeySetCopies(settings.DATA_DIR),
    log,
    now: stores.now,
  });
  const setsOf = (file: ConfigFile | null) => sourcesOf(settings, file).flatMap(keySetsOf);
  sets.apply(setsOf(config.current));
  return {
    ...sets,
    apply: (file) => sets.apply(setsOf(file)),
    tried: () => sets.tried(setsOf(config.current)),
  };
}
