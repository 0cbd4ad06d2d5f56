import type { CatchUpAdapter } from "../provider/catch-up.ts";
import { providerOf } from "../providers/index.ts";
import { headersOf, type Scheme } from "../signature/schemes.ts";

const OF_SVIX = ["svix-signature", "webhook-signature"];

/** How a source can catch up: as its provider, or as Svix, which many providers use. Undefined if it cannot. */
export function catchUpOf({
  preset,
  schemes,
}: {
  preset: string | null;
  schemes: readonly Scheme[];
}): CatchUpAdapter | undefined {
  const provider = providerOf(preset);
  const signsAsSvix = schemes.some((scheme) => headersOf(scheme).some((name) => OF_SVIX.includes(name)));
  const isOfSvix = signsAsSvix && provider?.deliversAgain === undefined;
  return provider?.catchUp ?? (isOfSvix ? providerOf("svix")?.catchUp : undefined);
}
