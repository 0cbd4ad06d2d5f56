import { DEFAULT_SOURCE_NAME } from "../default-source.ts";
import { needsOf, type Scheme } from "../signature/schemes.ts";
import { addressWithSecret, signDelivery } from "../signature/sign.ts";
import type { Source } from "../source.ts";
import { sampleOf } from "./index.ts";

/** What a sample is signed with. */
export type SampleSender = Pick<
  Source,
  "name" | "path" | "preset" | "id" | "type" | "contentTypes" | "options" | "publicOrigin"
> & {
  scheme: Scheme;
  /** A private key if the sender has a key pair. */
  secret: string;
};

/** What of a sample may be chosen. */
interface SampleChoice {
  id?: string | undefined;
  type?: string | undefined;
  /** Instead of the body of the sample. */
  body?: Buffer | null;
}

/** The first scheme of a source that needs secrets, or keys. */
export function schemeFor({ schemes }: Pick<Source, "schemes">, needs: "secrets" | "keys"): Scheme {
  const scheme = schemes.find((candidate) => needsOf(candidate) === needs);
  if (!scheme) throw new Error(`a source with ${needs} has a scheme for them`);
  return scheme;
}

/** The sender of a source, with its newest secret. Null if it has none. */
export function senderOf(source: Source): SampleSender | null {
  const [newest] = source.secrets;
  return newest ? { ...source, scheme: schemeFor(source, "secrets"), secret: newest.value } : null;
}

/**
 * A sample as its sender delivers it to an address. Throws an error if it cannot be signed. A signature may cover the
 * address, which for the sender is the public one: `sentTo`, with the secret if it has one.
 */
export function signedSample(sender: SampleSender, sentTo: string, { id, type, body = null }: SampleChoice = {}) {
  const now = Date.now();
  const places = sender.id.filter((place) => place !== "bytes");
  const like = { ...sender, id: sender.preset === null && places.length === 0 ? ["body:id" as const] : places };
  const sample = sampleOf(templateName(sender), { id, type, now }, like);
  const { origin } = new URL(sentTo);
  const target = sentTo.slice(sentTo.indexOf("/", sentTo.indexOf("//") + 2)) || "/";
  const unsigned = {
    method: "POST",
    origin,
    target,
    headers: { ...sample.headers, "content-type": sample.contentType },
    mediaType: sample.contentType,
    body: body ?? Buffer.from(sample.body),
  };
  return signDelivery(sender.scheme, sender.secret, unsigned, now, sender.options);
}

/** Whose sample a sender sends, as {@link sampleOf} and `sampleFit` take it. */
export const templateName = ({ preset, name }: Pick<Source, "preset" | "name">): string | null =>
  preset ?? (name === DEFAULT_SOURCE_NAME ? "default" : null);

/** The addresses of a sample: where it is sent, and the one that its sender knows, which may have another origin. */
export function sampleAddresses(
  sender: SampleSender,
  url: string,
  publicOrigin: string | undefined,
): { url: string; sentTo: string } {
  const known = publicOrigin ? publicOrigin + sender.path : url;
  const withSecret = (address: string) => addressWithSecret(sender.scheme, sender.secret, address);
  return { url: withSecret(url), sentTo: withSecret(known) };
}
