import { setImmediate as nextTurn } from "node:timers/promises";
import { AppError } from "../../errors.ts";
import { requireCoding, requireEncodableType } from "../../lib/body-headers.ts";
import type { Coding } from "../../lib/content-coding.ts";
import { splitTarget } from "../../lib/request-target.ts";
import { type AddressParts, requireAddress, UNKNOWN_RETRY_SECONDS } from "../addresses/allowed-addresses.ts";
import { contentTypeOf, isInQuery, type OpenedBody, openBody } from "../content/body.ts";
import { type Content, FORM, openContent } from "../content/content.ts";
import { isKept } from "../held/holding.ts";
import type { Retirement } from "../secrets/retirement.ts";
import type { RefusalReason, Verified } from "../signature/bound-scheme.ts";
import { type KeySets, keySetsOf } from "../signature/key-sets.ts";
import { asksForCredentials, isSecretField } from "../signature/schemes.ts";
import { createVerifier, type ReadSignatures } from "../signature/signature.ts";
import type { SignedRequest } from "../signature/signed-text.ts";
import { isDefault, type Source } from "../source.ts";
import { requirePayload } from "./payload.ts";

/** A request as it came. */
interface Arrived extends Omit<SignedRequest, "content"> {
  /** Names and values in turn, as they were sent. */
  rawHeaders: string[];
  address: string;
  requestId: string;
  /** Unix milliseconds. */
  now(): number;
  /** Reads the body, or takes the query for it. Throws `payload_too_large`. */
  readBody(): Promise<Buffer>;
}

/** A delivery on its way through the stages, with what they have found of it. */
export interface Delivery extends Arrived, SignedRequest {
  mediaType: string;
  /** Null without one. */
  coding: Coding | null;
  /** What the headers have of signatures. */
  signatures: ReadSignatures;
  /** The body as it was sent; null until it is read. */
  bytes: Buffer | null;
  /** When it was read, in Unix milliseconds. */
  receivedAt: number;
  body: OpenedBody;
  /** The body as its signature covers it. */
  content: Content;
  verified: Verified | RefusalReason;
  /** The body as it is read and stored. */
  payload: Content;
}

/** A delivery that has passed all stages. */
export interface GenuineDelivery extends Delivery {
  verified: Verified;
}

/** One check of a delivery. */
interface Stage {
  name: string;
  /** Whether a held delivery passes it again. What the others check was right before it was held. */
  isOfHeld: boolean;
  /** Checks a delivery, and notes in it what it finds. Throws the refusal. */
  pass(delivery: Delivery): void | Promise<void>;
}

/** What the stages use. */
export interface StageParts extends AddressParts {
  keySets: Pick<KeySets, "withKeys" | "renew" | "isMissing">;
  /** Whether a secret that has verified a delivery is not retired. */
  acceptsSecret: Retirement["accepts"];
}

const UNREAD = openContent(Buffer.alloc(0), "");

/** A delivery of which nothing was found yet. `bytes` is its body, if that was read before. */
export function deliveryOf(arrived: Arrived, bytes: Buffer | null = null): Delivery {
  const content = bytes === null ? UNREAD : openContent(bytes, contentTypeOf(arrived.method, arrived.headers));
  return {
    ...arrived,
    mediaType: "",
    coding: null,
    signatures: { reason: "no_signature" },
    bytes,
    receivedAt: 0,
    body: { signed: content, content: async () => content },
    content,
    verified: "no_signature",
    payload: content,
  };
}

const BASIC_CHALLENGE = { "WWW-Authenticate": 'Basic realm="webhook", charset="UTF-8"' };

// Others come between the verification of a larger body, its reading and its redaction.
const LARGE_BYTES = 256 * 1024;

/** Lets others run before a large body is worked on. */
export const yieldFor = async ({ bytes }: Content) => bytes.length > LARGE_BYTES && nextTurn();

/** The query of a delivery without a body, but for the parameters that hold the secret. */
export function payloadOfQuery({ schemes }: Pick<Source, "schemes">, target = ""): Buffer {
  const [, query = ""] = splitTarget(target);
  const fields = query.split("&").filter((field) => !isSecretField(schemes, field));
  return Buffer.from(fields.join("&"), "latin1");
}

/**
 * The checks of the deliveries of a source, in their order. The body is read only if a signature header is plausible,
 * or the source keeps refused deliveries. It is parsed after verification, or before it where the signature is in the
 * body.
 */
export function stagesOf(source: Source, parts: StageParts) {
  const { keySets, acceptsSecret } = parts;
  const hasKeySets = keySetsOf(source).length > 0;
  const verifier = createVerifier(hasKeySets ? keySets.withKeys(source) : source);
  const headers = asksForCredentials(source.schemes) ? BASIC_CHALLENGE : {};

  const notGenuine = (reason: RefusalReason) =>
    new AppError("signature_mismatch", { reason, status: source.refusedStatus, headers });

  /**
   * Whether the sender has published other keys since a signature matched none. Throws `intake_paused` if its keys have
   * never been read: by the next delivery they may have been.
   */
  async function mayHaveNewKey(reason: RefusalReason): Promise<boolean> {
    if (reason !== "signature_mismatch" || !hasKeySets) return false;
    const hasChanged = await keySets.renew(source);
    if (keySets.isMissing(source))
      throw new AppError("intake_paused", { reason: "keys_unknown", retryAfterSeconds: UNKNOWN_RETRY_SECONDS });
    return hasChanged;
  }

  const verify = (delivery: Delivery) => {
    const { signatures } = delivery;
    return "reason" in signatures ? signatures.reason : verifier.verify(delivery, signatures.candidates);
  };

  return [
    {
      name: "content_type",
      isOfHeld: false,
      pass(delivery) {
        const { contentTypes } = source;
        delivery.mediaType = isInQuery(delivery.method)
          ? FORM
          : requireEncodableType(delivery, contentTypes, { isLenient: !isDefault(source) });
      },
    },
    {
      name: "content_encoding",
      isOfHeld: false,
      pass(delivery) {
        if (!isInQuery(delivery.method)) delivery.coding = requireCoding(delivery, source.encoding ?? []);
      },
    },
    { name: "address", isOfHeld: false, pass: (delivery) => requireAddress(source, delivery, parts) },
    {
      name: "signature_header",
      isOfHeld: true,
      async pass(delivery) {
        const read = () => {
          delivery.signatures = verifier.read(delivery.headers, delivery.now());
          return "reason" in delivery.signatures ? delivery.signatures.reason : null;
        };
        let reason = read();
        if (reason && (await mayHaveNewKey(reason))) reason = read();
        // One that is kept is read first.
        if (reason && !isKept(source, reason)) throw notGenuine(reason);
      },
    },
    {
      name: "body",
      isOfHeld: false,
      async pass(delivery) {
        delivery.bytes = await delivery.readBody();
      },
    },
    {
      name: "decoding",
      isOfHeld: true,
      async pass(delivery) {
        const { method, headers, bytes, coding, address } = delivery;
        const contentType = contentTypeOf(method, headers);
        delivery.body = await openBody(source, { bytes: bytes ?? Buffer.alloc(0), coding, contentType, address });
        delivery.content = delivery.body.signed;
        delivery.receivedAt = delivery.now();
      },
    },
    {
      name: "signature",
      isOfHeld: true,
      async pass(delivery) {
        delivery.verified = verify(delivery);
        if (typeof delivery.verified === "string" && (await mayHaveNewKey(delivery.verified)))
          delivery.verified = verify(delivery);
        if (typeof delivery.verified === "string") throw notGenuine(delivery.verified);
        if (source.retireMs !== undefined && !(await acceptsSecret(source, delivery.verified.secret)))
          throw notGenuine("secret_retired");
      },
    },
    {
      name: "content",
      isOfHeld: true,
      async pass(delivery) {
        delivery.payload = await delivery.body.content();
        await yieldFor(delivery.payload);
      },
    },
    { name: "payload", isOfHeld: true, pass: ({ payload }) => requirePayload(source, payload) },
  ] as const satisfies readonly Stage[];
}

export type StageName = ReturnType<typeof stagesOf>[number]["name"];

/** Lets a delivery pass the stages. Throws the first refusal. */
export async function passStages(stages: readonly Stage[], delivery: Delivery): Promise<GenuineDelivery> {
  for (const stage of stages) await stage.pass(delivery);
  return delivery as GenuineDelivery;
}
