import type { Coding } from "../lib/content-coding.ts";
import { FORM } from "./content/content.ts";
import type { CatchUpAdapter } from "./provider/catch-up.ts";
import type { Handshake } from "./provider/handshake.ts";
import type { Template } from "./provider/sample.ts";
import type { IdPlace, Scheme } from "./signature/schemes.ts";

/**
 * What proves that a provider's schemes are right. `published`: a delivery that somebody published verifies. `sdk`: a
 * delivery verifies that the provider's own package, or the one that its documentation names, signed or accepted.
 * `self-signed`: only one that was made here. `by` is the address of the published delivery, or the package.
 */
type Evidence = { kind: "published" | "sdk"; by: string } | { kind: "self-signed"; by: null };

/**
 * What makes a duplicate. `bytes`: a known signed id, or without one the same bytes. `id`: a known id, signed or not,
 * or without any the same bytes. `off`: nothing. A number: the same bytes within so many milliseconds.
 */
export type Dedupe = "bytes" | "id" | "off" | number;

/** Where a sender delivers and checks the address, below the path of its source. */
export interface SubPaths {
  deliveries: string;
  check: string;
}

/** All that is known of a provider. In the configuration file it is a preset. */
export interface Provider {
  title: string;
  /** The preset whose alias this is. The alias has the same evidence. */
  aliasOf?: string;
  /** The provider's page. */
  docs: string;
  /** How it signs its deliveries. Any one of them is enough. */
  schemes: readonly Scheme[];
  /**
   * What a source sets besides secrets or keys: what each option is. One that may be left out has what happens without
   * it, as a warning, or its default.
   */
  options?: Readonly<Record<string, { is: string; without?: string; default?: string }>>;
  /** Where its public keys are, if a source need not set them. */
  keysUrl?: string;
  /** Its public keys or the root of its certificates, if a source need not set them and they stay for years. */
  keys?: readonly string[];
  /** What a signature covers of the body: all, a part that the provider chose, or nothing. */
  covers: "body" | "part" | "none";
  /**
   * Where the id and the type of an event lie; the first that is there counts. Without them the usual places are looked
   * at.
   */
  id?: readonly IdPlace[];
  type?: readonly IdPlace[];
  /** What makes a duplicate, if not `bytes`, why, and the page or report that says so. */
  dedupe?: { mode: Dedupe; why: string; source: string };
  /** Media types that it sends, when not only `application/json`. */
  contentTypes?: readonly string[];
  /** How it may encode bodies. */
  encoding?: readonly Coding[];
  /** Whether its signature covers the encoded body, and not the decoded one. */
  signedOver?: "encoded";
  /** Whether its events are checked like those of the source `default`. */
  isEnvelope?: true;
  /** What it asks for before it delivers. */
  handshake?: Handshake;
  /**
   * What it adds to the query of the address that it is given, and the members of the body that say the same. The query
   * of a delivery is not stored.
   */
  query?: Readonly<Record<string, string>>;
  /**
   * What its libraries look for in a signature besides the proof: a name of the key, which is not stored. So an event
   * cannot be signed anew with a secret alone.
   */
  keyName?: string;
  /** What it adds to the path of the address that it is given, if it asks and delivers elsewhere. */
  subPaths?: SubPaths;
  /**
   * The answer to a delivery that it expects, with its media type, when any 2xx is not enough. The default status is
   * 200.
   */
  acknowledgement?: { status?: number; type: string; text: string };
  /** The status that it needs for a wrong signature, when not 403. */
  refusedStatus?: 401;
  /** Whether it refuses answers that have a body. */
  needsEmptyAnswers?: true;
  /** How what was missed is listed and got, if its API can. */
  catchUp?: CatchUpAdapter;
  /**
   * The page of the provider's own way to deliver again, for one that signs as Svix and gives nobody a token of it.
   * `catchUp` cannot ask it.
   */
  deliversAgain?: string;
  /** What it does with its deliveries, as far as somebody has published it. */
  facts?: ProviderFacts;
  evidence: Evidence;
  /** How its deliveries look, when not like a generic event at the places above. */
  sample?: Template;
}

type Described = Omit<Provider, "schemes" | "covers" | "evidence"> &
  Partial<Pick<Provider, "covers" | "evidence">> & { schemes: Scheme | readonly Scheme[] };

/**
 * Describes a provider: its signature covers the whole body, and nothing from elsewhere proves it, unless it says
 * otherwise.
 */
export function provider({ schemes, ...rest }: Described): Provider {
  return {
    covers: "body",
    evidence: { kind: "self-signed", by: null },
    ...rest,
    schemes: "type" in schemes ? [schemes] : schemes,
  };
}

/** For senders that let the receiver choose between JSON and forms. */
export const JSON_OR_FORM = ["application/json", FORM];

/** What a provider does with its deliveries. What nobody has published is left out. */
export interface FactValues {
  /** Whether two different events can have the same bytes. */
  sameBytes: boolean;
  /** What a repeat of a delivery changes. The id is the one at the places of `id`, the time the one that is signed. */
  repeatChanges: readonly ("body" | "id" | "time")[];
  /** Whether one delivery can have several events. */
  batches: boolean;
  /** How a delivery looks that is signed with two secrets, while one replaces the other. */
  rotation: string;
  /** The largest body that it sends, in bytes. */
  maxBodyBytes: number;
  /** What it takes for a delivery that arrived. */
  answer: string;
  /** How long it waits for the answer, in seconds. */
  answerSeconds: number;
  /** Whether a delivery that failed is sent again: by itself, only on request, or never. */
  repeats: "automatic" | "manual" | "never";
  /** When it is sent again. */
  schedule: string;
  /** The time from the first to the last attempt, in seconds. */
  repeatsForSeconds: number;
  /** The same for the types of events that differ, in seconds. 0: such an event is never sent again. */
  repeatsByType: Readonly<Record<string, number>>;
  /** When it stops to deliver to an address that fails. */
  disables: string;
  /** For how long it keeps deliveries that can be looked at or asked for again, in days. */
  keepsDays: number;
}

/** A fact, and the page, package or report that says it. */
export interface Fact<T> {
  is: T;
  source: string;
}

export type ProviderFacts = { readonly [Name in keyof FactValues]?: Fact<FactValues[Name]> };

/** Facts that one page says. */
export function says(source: string, values: Partial<FactValues>): ProviderFacts {
  return Object.fromEntries(Object.entries(values).map(([name, is]) => [name, { is, source }]));
}

// The type makes sure that none is forgotten.
const FACTS: Record<keyof FactValues, true> = {
  sameBytes: true,
  repeatChanges: true,
  batches: true,
  rotation: true,
  maxBodyBytes: true,
  answer: true,
  answerSeconds: true,
  repeats: true,
  schedule: true,
  repeatsForSeconds: true,
  repeatsByType: true,
  disables: true,
  keepsDays: true,
};

/** For how many seconds each event is repeated, whatever its type: the shortest time; undefined if unknown. */
export function repeatsAllForSeconds(facts: ProviderFacts | undefined): number | undefined {
  const { repeatsForSeconds, repeatsByType } = facts ?? {};
  return repeatsForSeconds && Math.min(repeatsForSeconds.is, ...Object.values(repeatsByType?.is ?? {}));
}

/** A fact as it is shown. One for each type of event is a text, e.g. `Bounce 3600`. */
export function shownFact(is: unknown): unknown {
  if (typeof is !== "object" || is === null || Array.isArray(is)) return is;
  return Object.entries(is)
    .map((entry) => entry.join(" "))
    .join(", ");
}

export const FACT_NAMES = Object.keys(FACTS) as readonly (keyof FactValues)[];
