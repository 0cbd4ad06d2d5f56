import type { Log } from "../../log.ts";
import { type FollowedDocuments, followDocuments } from "../addresses/followed-documents.ts";
import type { Source } from "../source.ts";
import { type KeySet, type KeySetContent, type KeySetCopies, parseKeySet } from "./key-set.ts";
import type { PublicKey } from "./public-key.ts";

/** The sets of public keys of a running server. */
export interface KeySets extends Pick<FollowedDocuments<KeySet, unknown>, "apply" | "tried" | "start" | "stop"> {
  /** The source with the present keys of its sets, now and later. */
  withKeys(source: Source): Source;
  /**
   * Reads the sets of a source again because a signature matches none of its keys, at most once a minute. Resolves to
   * whether they have changed.
   */
  renew(source: Source): Promise<boolean>;
  /** Whether a set of the source has never been read. */
  isMissing(source: Source): boolean;
}

interface KeySetsOptions {
  /** Fetches a set. Ends with `signal`. */
  read(set: KeySet, signal: AbortSignal): Promise<{ text: string; freshMs?: number | undefined }>;
  copies: KeySetCopies;
  log: Log;
  now(): number;
}

/** Anybody can send signatures that match no key. */
const RENEWAL_MS = 60_000;

/** Creates the sets. None is in use before `apply`. */
export function createKeySets({ read, copies, log, now }: KeySetsOptions): KeySets {
  const sets = followDocuments<KeySet, KeySetContent>({
    restore: copies.read,
    async read(set, signal) {
      const { text, freshMs } = await read(set, signal);
      return { content: parseKeySet(text), ...(freshMs !== undefined && { freshMs }) };
    },
    keep: (set, content) => copies.write(set, content, now()),
    isSame: (one, other) => one.text === other.text,
    onChanged({ name }, { keys }) {
      log.info(
        { event: "key_set_changed", keys: name, count: keys.length },
        "the public keys of a sender have changed",
      );
    },
    onError({ name }, error, content) {
      log.warn({ event: "key_set_error", keys: name, error }, effectOf(content));
    },
  });
  const renewals = new Map<string, { at: number; ended: Promise<void> }>();

  function renewal(set: KeySet): Promise<void> {
    const last = renewals.get(set.id);
    // The clock may have been set back.
    if (last && Math.abs(now() - last.at) < RENEWAL_MS) return last.ended;
    const ended = sets.readAgain([set]);
    renewals.set(set.id, { at: now(), ended });
    return ended;
  }

  return {
    ...sets,
    withKeys: ({ keys = [], ...rest }) => ({
      ...rest,
      keys: keys.map((key) => (key.set ? withContent(key, key.set) : key)),
    }),
    async renew(source) {
      const wanted = keySetsOf(source);
      const before = wanted.map(sets.contentOf);
      await Promise.all(wanted.map(renewal));
      return wanted.some((set, index) => sets.contentOf(set) !== before[index]);
    },
    isMissing: (source) => keySetsOf(source).some((set) => sets.contentOf(set) === null),
  };

  function withContent({ name, mark }: PublicKey, set: KeySet): PublicKey {
    return {
      name,
      mark,
      set,
      get keys() {
        return sets.contentOf(set)?.keys ?? [];
      },
    };
  }
}

/** The sets of public keys of a source. */
export function keySetsOf({ keys = [] }: Pick<Source, "keys">): KeySet[] {
  return keys.flatMap(({ set }) => set ?? []);
}

function effectOf(content: KeySetContent | null): string {
  if (content) return "the last good public keys stay in use";
  return "there are no public keys yet: the sources that need them answer 503";
}
