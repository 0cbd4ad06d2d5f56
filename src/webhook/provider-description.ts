import { catchUpOf } from "./catch-up/adapters.ts";
import { FACT_NAMES, type Provider } from "./provider.ts";

import { asksForCredentials, isInAddress, needsOf, type Scheme } from "./signature/schemes.ts";

/** All that is known of a provider. What nobody has published is null. */
export function describeProvider(name: string, provider: Provider) {
  const { title, docs, schemes, covers, evidence } = provider;
  return {
    name,
    title,
    aliasOf: provider.aliasOf ?? null,
    docs,
    types: [...new Set(schemes.map(({ type }) => type))],
    needs: needsOfProvider(provider),
    keysUrl: provider.keysUrl ?? null,
    covers,
    note: noteOn(schemes),
    id: (provider.id ?? []).map((place) => [place].flat().join(" + ")),
    type: (provider.type ?? []).map((place) => [place].flat().join(" + ")),
    dedupe: provider.dedupe ?? { mode: "bytes", why: null, source: null },
    contentTypes: provider.contentTypes ?? ["application/json"],
    encoding: provider.encoding ?? [],
    signedOver: provider.encoding ? (provider.signedOver ?? "plain") : null,
    handshake: provider.handshake?.kind ?? null,
    subPaths: provider.subPaths ?? null,
    answer: answerOf(provider),
    refusedStatus: refusedStatusOf(provider),
    evidence: evidence.kind,
    provedBy: evidence.by,
    catchUp: describeCatchUp(name, provider),
    facts: Object.fromEntries(FACT_NAMES.map((fact) => [fact, provider.facts?.[fact] ?? null])),
  };
}

/** How a source gets what it has missed; null if the provider's API cannot be asked. */
function describeCatchUp(name: string, { schemes, catchUp, deliversAgain }: Provider) {
  if (deliversAgain !== undefined)
    return { by: "asking it yourself: catchUp cannot", token: null, hook: null, source: deliversAgain };
  const adapter = catchUpOf({ preset: name, schemes });
  if (adapter === undefined) return null;
  const { onlyLists, token, hook, docs } = adapter;
  const again = catchUp
    ? "asking it to deliver again"
    : "asking to deliver again, if it gives you a token as Svix does";
  return {
    by: onlyLists ? "storing what its API lists, signed by nobody" : again,
    token,
    hook: hook.example,
    source: docs,
  };
}

function answerOf({ acknowledgement, needsEmptyAnswers }: Provider): string | null {
  if (needsEmptyAnswers) return "empty";
  if (!acknowledgement) return null;
  const { status = 200, type, text } = acknowledgement;
  return text === "" ? `${status}, empty` : `${type}: ${text}`;
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
  const isInUrl = schemes.every(isInAddress);
  return `It signs nothing. Only the secret in ${isInUrl ? "the URL" : "each delivery"} protects it.`;
}
