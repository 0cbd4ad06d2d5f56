import { type DocumentCopies, openDocumentCopies } from "../addresses/document-copies.ts";
import type { FollowedDocument } from "../addresses/followed-documents.ts";
import { type IdentifiedKey, readPublicKeys } from "./public-key.ts";

/** A set of public keys at a URL of their sender (RFC 7517), as data. */
export type KeySet = FollowedDocument;

/** The content of a set. */
export interface KeySetContent {
  /** The document as it was fetched. */
  text: string;
  keys: readonly IdentifiedKey[];
}

/** How often a set is fetched whose sender does not say how long it is fresh. */
export const DEFAULT_REFRESH_MS = 3_600_000;

// Google's is fresh for some hours. A sender that says nothing useful is asked neither all the time nor never.
const LEAST_FRESH_MS = 60_000;
const MOST_FRESH_MS = 86_400_000;

/** How long an answer is fresh by its `Cache-Control` (RFC 9111), within bounds; undefined if it does not say so. */
export function freshMsOf(cacheControl: string | undefined): number | undefined {
  const seconds = /(?:^|[\s,])max-age="?(\d+)/i.exec(cacheControl ?? "")?.[1];
  if (seconds === undefined) return undefined;
  return Math.min(Math.max(Number(seconds) * 1000, LEAST_FRESH_MS), MOST_FRESH_MS);
}

/** Reads a set. Throws an error whose message follows the name of the set. */
export function parseKeySet(text: string): KeySetContent {
  const keys = readPublicKeys(text);
  if (keys === null) throw new Error("has no public key");
  return { text, keys };
}

/** Keeps the last good content of sets. */
export type KeySetCopies = DocumentCopies<KeySetContent>;

/** Opens the copies in a data directory. */
export function openKeySetCopies(dataDir: string): KeySetCopies {
  return openDocumentCopies(dataDir, {
    folder: "key-sets",
    nameMember: "keys",
    parse: (text) => parseKeySet((JSON.parse(text) as { text: string }).text),
    members: ({ text }) => ({ text }),
  });
}
