import type { BlockList } from "node:net";
import type { Coding } from "../lib/content-coding.ts";
import type { RedactedPaths } from "../lib/redact-json.ts";
import type { AddressList } from "./addresses/address-lists.ts";
import type { CatchUpSettings } from "./catch-up/adapter.ts";
import type { HeldBounds } from "./held/held-store.ts";
import type { PublicKey } from "./signature/public-key.ts";
import type { IdPlace, Scheme } from "./signature/schemes.ts";
import type { Options } from "./signature/signed-text.ts";
import type { RenewSettings } from "./subscriptions/renewal.ts";

/**
 * What makes a duplicate. `bytes`: a known signed id, or without one the same bytes. `id`: a known id, signed or not,
 * or without any the same bytes. `off`: nothing. A number: the same bytes within so many milliseconds.
 */
export type Dedupe = "bytes" | "id" | "off" | number;

/** A sender of webhooks, as data. */
export interface Source {
  /** Names the sender in events, logs and commands. */
  name: string;
  path: string;
  /** Deliveries are accepted at `path`, too. */
  subPaths?: SubPaths;
  /** The methods of deliveries. Undefined: `POST`. With `GET` and `HEAD` the query is the payload, a form. */
  methods?: readonly DeliveryMethod[];
  /** The preset that `schemes` is from; null for other schemes. */
  preset: string | null;
  /** The secrets that the sender may sign with, the newest first. */
  secrets: readonly Secret[];
  /** The public keys that the sender may sign with, the newest first. Undefined: none. */
  keys?: readonly PublicKey[];
  /** What the preset needs besides. */
  options?: Options;
  /** Scheme and host under which the server is reached, if it is configured. Signatures may cover them. */
  publicOrigin?: string;
  /** The accepted signature schemes. One valid signature is enough. */
  schemes: readonly Scheme[];
  /** Largest difference of a signed timestamp from the clock, either way. Undefined: that of the scheme. */
  toleranceSeconds?: number;
  /**
   * Where the id of an event is, first of all; `bytes` is the digest of the body. A list is an id of several places.
   */
  id: readonly (IdPlace | "bytes")[];
  /** Where the type of an event is, first of all. */
  type: readonly IdPlace[];
  dedupe: Dedupe;
  /** Accepted media types and ranges, in lower case, e.g. `application/json` or `text/*`. */
  contentTypes: readonly string[];
  /** How bodies may be encoded. Undefined: not at all. */
  encoding?: readonly Coding[];
  /** Whether signatures cover a body as it is sent, and not as it is decoded. */
  signedOver?: "encoded";
  /** Whether a JSON body must be an object, and with `"object": "event"` an event of Stripe or OpenAI. */
  isEnvelope: boolean;
  /** Undefined allows every address. */
  allowedAddresses?: BlockList;
  /** Lists of further allowed addresses. */
  addressLists?: readonly AddressList[];
  /** `watch` only logs deliveries from other addresses. */
  addressMode: "enforce" | "watch";
  bodyLimitBytes: number;
  /** How it catches up with its provider. Undefined: not at all. */
  catchUp?: CatchUpSettings;
  /** How its subscription is kept alive. Undefined: not at all. */
  renew?: RenewSettings;
  /** When its subscription ends, in Unix milliseconds, if nobody renews it here. */
  expiresAt?: number;
  /** How many deliveries each server takes, and the time in which as many may come at once. Undefined: any number. */
  rate?: { perSecond: number; seconds: number };
  /** The longest usual time between two deliveries, in milliseconds. Longer silence is an alert. */
  expectEveryMs?: number;
  /**
   * An old secret that has not verified a delivery for so long is retired: it is no longer accepted. Undefined: never.
   */
  retireMs?: number;
  /** The members of JSON that are replaced before anything is stored. Undefined: none. */
  redact?: RedactedPaths;
  /** How many deliveries that were refused for their signature are kept. Undefined: none. */
  keepRejected?: HeldBounds;
  /** The handshake of the provider, if the source answers it. */
  handshake?: HandshakeSettings;
  /** The status of refused signatures if the provider needs another than 403. */
  refusedStatus?: 401;
  /** Whether the provider refuses answers that have a body. */
  needsEmptyAnswers?: true;
  /** The answer to a stored delivery that the sender expects. Undefined: our usual one. */
  acknowledgement?: { status: number; type: string; text: string };
}

/** Whether it is the source `default`, whose payloads must be right to the letter. */
export function isDefault({ preset, isEnvelope }: Pick<Source, "preset" | "isEnvelope">): boolean {
  return isEnvelope && preset === null;
}

export const DELIVERY_METHODS = ["POST", "PUT", "PATCH", "GET", "HEAD"] as const;

export type DeliveryMethod = (typeof DELIVERY_METHODS)[number];

/** Whether deliveries of a method have their payload in the query. */
export function isInQuery(method: string | undefined): boolean {
  return method === "GET" || method === "HEAD";
}

/** Where a sender delivers and checks the address, below the path of its source. */
export interface SubPaths {
  deliveries: string;
  check: string;
}

/** The paths at which a source takes deliveries, and the one at which it answers the check of its address. */
export function pathsOf({ path, subPaths }: Pick<Source, "path" | "subPaths">): {
  deliveries: string[];
  check: string;
} {
  const below = (name: string) => `${path.replace(/\/$/, "")}${name}`;
  if (!subPaths) return { deliveries: [path], check: path };
  return { deliveries: [path, below(subPaths.deliveries)], check: below(subPaths.check) };
}

/** What the schemes of a source verify with. */
export type VerifiedBy = Pick<Source, "secrets" | "keys" | "options" | "toleranceSeconds" | "publicOrigin">;

/** What a source says about the check of its URL. */
export interface HandshakeSettings {
  /** The `kind` of a `Handshake`. */
  kind: string;
  token?: Secret;
  /** The parameter, the header or the member with the challenge, if the source describes it. */
  name?: string;
  /** The header or the member of JSON that it is echoed in. Undefined: as text, or under the same name. */
  as?: string;
}

/** A secret of a source. */
export interface Secret {
  /** Where it is set, e.g. `env:NAME`. This is shown and stored; the value is not. */
  name: string;
  value: string;
  /** Changes when the value does, see secret-mark.ts. */
  mark: string;
}
