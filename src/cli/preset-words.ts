import { nearest } from "../lib/nearest.ts";
import type { Provider } from "../webhook/provider.ts";
import { PROVIDER_NAMES } from "../webhook/providers/index.ts";
import { asksForCredentials, needsOf, type Scheme } from "../webhook/signature/schemes.ts";

/** What to do about a name that is none of a preset. */
export function remedyForPreset(name: string): string {
  const meant = nearest(name, PROVIDER_NAMES);
  return meant === undefined ? "see authserve sources presets" : `did you mean ${meant}?`;
}

/** What a source of a provider sets: secrets or keys, unless the keys are known or fetched, and options. */
export function needsOfProvider({ schemes, options = {}, keysUrl, keys }: Provider): string[] {
  const credentials = [...new Set(schemes.map(needsOf))].sort().reverse().join(" or ");
  return [...(keysUrl === undefined && keys === undefined ? [credentials] : []), ...Object.keys(options)];
}

/** The status of a delivery that is not genuine. */
export function refusedStatusOf({ schemes, refusedStatus }: Provider): 401 | 403 {
  return asksForCredentials(schemes) ? 401 : (refusedStatus ?? 403);
}

/** What an operator must know of a sender that signs nothing; null for others. */
export function noteOn(schemes: readonly Scheme[]): string | null {
  if (schemes.some(({ type }) => type !== "token")) return null;
  const isInUrl = schemes.every((scheme) => "query" in scheme || "path" in scheme);
  return `It signs nothing. Only the secret in ${isInUrl ? "the URL" : "each delivery"} protects it.`;
}
