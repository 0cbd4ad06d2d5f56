import type { AddressSettings } from "./addresses/allowed-addresses.ts";
import type { BodySettings, DeliveryMethod } from "./content/body.ts";
import type { RedactSettings } from "./content/redact.ts";
import type { HoldSettings } from "./held/holding.ts";
import type { CatchUpSettings } from "./provider/catch-up.ts";
import type { HandshakeSettings } from "./provider/handshake.ts";
import type { Dedupe, SubPaths } from "./provider.ts";
import type { RetirementSettings } from "./secrets/rotation.ts";
import type { SignatureSettings } from "./signature/bound-scheme.ts";
import type { IdPlace } from "./signature/schemes.ts";
import type { RenewSettings } from "./subscriptions/renewal.ts";

/** A sender of webhooks, as data. What one folder needs of it is described there. */
export interface Source
  extends BodySettings,
    RedactSettings,
    AddressSettings,
    SignatureSettings,
    RetirementSettings,
    HoldSettings {
  /** Names the sender in events, logs and commands. */
  name: string;
  path: string;
  /** Deliveries are accepted at `path`, too. */
  subPaths?: SubPaths;
  /** The methods of deliveries. Undefined: `POST`. With `GET` and `HEAD` the query is the payload, a form. */
  methods?: readonly DeliveryMethod[];
  /** The preset that `schemes` is from; null for other schemes. */
  preset: string | null;
  /**
   * Where the id of an event is, first of all; `bytes` is the digest of the body. A list is an id of several places.
   */
  id: readonly (IdPlace | "bytes")[];
  /** Where the type of an event is, first of all. */
  type: readonly IdPlace[];
  dedupe: Dedupe;
  /** Accepted media types and ranges, in lower case, e.g. `application/json` or `text/*`. */
  contentTypes: readonly string[];
  /** Whether a JSON body must be an object, and with `"object": "event"` an event of Stripe or OpenAI. */
  isEnvelope: boolean;
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

/** The paths at which a source takes deliveries, and the one at which it answers the check of its address. */
export function pathsOf({ path, subPaths }: Pick<Source, "path" | "subPaths">): {
  deliveries: string[];
  check: string;
} {
  if (!subPaths) return { deliveries: [path], check: path };
  return { deliveries: [path, below(path, subPaths.deliveries)], check: below(path, subPaths.check) };
}

/** A path below that of a source, which may end with a slash. */
export const below = (path: string, rest: string) => path.replace(/\/$/, "") + rest;
