import type { ConfigFile } from "../config/file/config-file.ts";
import { sourcesOf } from "../config/sources.ts";
import { freshMsOf, openKeySetCopies } from "../webhook/signature/key-set.ts";
import { createKeySets, type KeySets, keySetsOf } from "../webhook/signature/key-sets.ts";
import type { Wiring } from "./configuration.ts";
import { fetchDocument } from "./fetch-document.ts";
import type { Part } from "./parts.ts";

/** The sets of public keys of the sources. */
export type SourceKeys = Part & Pick<KeySets, "withKeys" | "renew" | "isMissing">;

// The largest known one has some 10 KiB.
const MAX_SET_BYTES = 1024 * 1024;

/** Creates the sets of all sources. Their start waits until those that were never read have been tried, ten seconds at most. */
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
  const apply = (file: ConfigFile | null) => sets.apply(setsOf(file));
  return {
    ...sets,
    apply,
    start() {
      apply(config.current);
      sets.start();
      return sets.tried(setsOf(config.current));
    },
  };
}
