import type { Log } from "../../log.ts";
import { type DocumentCopies, openDocumentCopies } from "../addresses/document-copies.ts";
import { type FollowedDocument, type FollowedDocuments, followDocuments } from "../addresses/followed-documents.ts";
import type { SignatureSettings } from "./bound-scheme.ts";
import { type IdentifiedKey, type PublicKey, readPublicKeys } from "./public-key.ts";

/** A set of public keys at a URL of their sender (RFC 7517), as data. */
export type KeySet = FollowedDocument;

/** The content of a set. */
interface KeySetContent {
  /** The document as it was fetched. */
  text: string;
  keys: readonly IdentifiedKey[];
}

/** How often a set is fetched whose sender does not say how long it is fresh. */
export const DEFAULT_REFRESH_MS = 3_600_000;

// Google's is fresh for some hours. A sender that says nothing useful is asked neither all the time nor never.
const MIN_FRESH_MS = 60_000;
const MAX_FRESH_MS = 86_400_000;

/** How long an answer is fresh by its `Cache-Control` (RFC 9111), within bounds; undefined if it does not say so. */
export function freshMsOf(cacheControl: string | undefined): number | undefined {
  const seconds = /(?:^|[\s,])max-age="?(\d+)/i.exec(cacheControl ?? "")?.[1];
  if (seconds === undefined) return undefined;
  return Math.min(Math.max(Number(seconds) * 1000, MIN_FRESH_MS), MAX_FRESH_MS);
}

/** Reads a set. Throws an error whose message follows the name of the set. */
function parseKeySet(text: string): KeySetContent {
  const keys = readPublicKeys(text);
  if (keys === null) throw new Error("has no public key");
  return { text, keys };
}

/** Keeps the last good content of sets. */
type KeySetCopies = DocumentCopies<KeySetContent>;

/** Opens the copies in a data directory. */
export function openKeySetCopies(dataDir: string): KeySetCopies {
  return openDocumentCopies(dataDir, {
    folder: "key-sets",
    nameMember: "keys",
    parse: (text) => parseKeySet((JSON.parse(text) as { text: string }).text),
    members: ({ text }) => ({ text }),
  });
}

/** The sets of public keys of a running server. */
export interface KeySets extends Pick<FollowedDocuments<KeySet, unknown>, "apply" | "tried" | "start" | "stop"> {
  /** The source with the present keys of its sets, now and later. */
  withKeys<Keyed extends Pick<SignatureSettings, "keys">>(source: Keyed): Keyed;
  /**
   * Reads the sets of a source again because a signature matches none of its keys, at most once a minute. Resolves to
   * whether they have changed.
   */
  renew(source: Pick<SignatureSettings, "keys">): Promise<boolean>;
  /** Whether a set of the source has never been read. */
  isMissing(source: Pick<SignatureSettings, "keys">): boolean;
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
    withKeys: (source) => ({
      ...source,
      keys: source.keys?.map((key) => (key.set ? withContent(key, key.set) : key)),
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
export function keySetsOf({ keys = [] }: Pick<SignatureSettings, "keys">): KeySet[] {
  return keys.flatMap(({ set }) => set ?? []);
}

function effectOf(content: KeySetContent | null): string {
  if (content) return "the last good public keys stay in use";
  return "there are no public keys yet: the sources that need them answer 503";
}
