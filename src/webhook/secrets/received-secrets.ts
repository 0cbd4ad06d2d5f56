import type { ReceivedSecret, SourceStore } from "../intake/source-store.ts";
import type { Secret } from "../signature/secret.ts";
import { usageIn } from "./rotation.ts";

/** What became of a secret that a handshake brought: why it was not kept, if it was not. */
export type Kept = "kept" | "known" | "verified" | "full";

// Anybody can send secrets to a source that waits for one. More than one is a reason to compare them with the
// provider's.
const MAX_PER_SOURCE = 5;

/**
 * Keeps a secret that a handshake brought for the operator, who decides whether to use it. Only a source waits for one
 * that has no secret which ever verified a delivery: later handshakes are of strangers, or of another webhook.
 */
export async function keepReceivedSecret(
  store: Pick<SourceStore, "list" | "keepSecret">,
  { name, secrets }: { name: string; secrets: readonly Secret[] },
  received: Omit<ReceivedSecret, "source">,
): Promise<Kept> {
  if (secrets.some(({ value }) => value === received.value)) return "known";
  const record = (await store.list()).find(({ source }) => source === name);
  if (secrets.some((secret) => usageIn(record, secret) !== undefined)) return "verified";
  return (await store.keepSecret({ source: name, ...received }, MAX_PER_SOURCE)) ? "kept" : "full";
}
