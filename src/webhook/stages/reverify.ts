import type { IncomingHttpHeaders } from "node:http";
import { AppError } from "../../errors.ts";
import type { EventStore, NewEvent } from "../../events/store.ts";
import { codingIn } from "../../lib/content-coding.ts";
import { createLog } from "../../log.ts";
import { wasRedacted } from "../content/redact.ts";
import { isHandshake } from "../handshakes/kinds.ts";
import { withCredentials } from "../held/held-credentials.ts";
import type { HeldDelivery, HeldStore } from "../held/held-store.ts";
import type { Source } from "../source.ts";
import { eventOf } from "./event.ts";
import { deliveryOf, passStages, stagesOf } from "./stages.ts";

/** The event of a held delivery, or why there is none. */
type Reverified = { event: NewEvent } | { refused: string };

type Reverify = (held: HeldDelivery) => Promise<Reverified>;

/** The reason why a delivery stays held whose members were redacted: nothing can verify it any more. */
export const REDACTED_REASON = "redacted";

/** Verifies held deliveries with the present secrets of their source, each as of its receipt. */
export function createReverify(source: Source): Reverify {
  const stages = stagesOf(source, {
    log: createLog("silent"),
    addressLists: { find: () => "listed" },
    keySets: { withKeys: (same) => same, renew: async () => false, isMissing: () => false },
    acceptsSecret: async () => true,
  }).filter(({ isOfHeld }) => isOfHeld);
  return async ({ method, origin, target, headers, address, receivedAt, body }) => {
    const kept = { headers: JSON.parse(headers) as IncomingHttpHeaders, target };
    const sent = { method, origin, ...withCredentials(source, kept), rawHeaders: [], address, requestId: "" };
    const bytes = Buffer.from(body);
    const delivery = deliveryOf({ ...sent, now: () => receivedAt, readBody: async () => bytes }, bytes);
    delivery.coding = codingIn(sent.headers["content-encoding"]) ?? null;
    try {
      const genuine = await passStages(stages, delivery);
      if (isHandshake(source, genuine.payload, sent.headers)) return { refused: "handshake" };
      return { event: eventOf(source, genuine) };
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      if (error.code !== "signature_mismatch") return { refused: error.code };
      const isOfHeaders = "reason" in delivery.signatures;
      return { refused: !isOfHeaders && wasRedacted(body) ? REDACTED_REASON : (error.reason ?? error.code) };
    }
  };
}

/** What became of held deliveries. `refused` stay held, each with the reason. */
interface AdmittedHeld {
  genuine: number;
  admitted: number;
  /** Genuine, and stored before. */
  duplicates: number;
  refused: { id: number; reason: string }[];
}

interface Stores {
  events: Pick<EventStore, "append">;
  held: Pick<HeldStore, "remove">;
}

/** Stores the deliveries that the present secrets verify, and holds them no longer. With `dryRun` it only counts. */
export async function admitHeld(
  { events, held }: Stores,
  deliveries: readonly ({ id: number } & HeldDelivery)[],
  reverify: Reverify,
  dryRun = false,
): Promise<AdmittedHeld> {
  const results = await Promise.all(
    deliveries.map(async (delivery) => ({ id: delivery.id, ...(await reverify(delivery)) })),
  );
  const genuine = results.flatMap((result) => ("event" in result ? [result] : []));
  const refused = results.flatMap((result) => ("refused" in result ? [{ id: result.id, reason: result.refused }] : []));
  if (dryRun || genuine.length === 0) return { genuine: genuine.length, admitted: 0, duplicates: 0, refused };
  const appended = await events.append(genuine.map(({ event }) => event));
  // After a break in between they are duplicates the next time.
  await held.remove(genuine.filter((_, place) => appended[place]?.error === undefined).map(({ id }) => id));
  return {
    genuine: genuine.length,
    duplicates: appended.filter(({ duplicate }) => duplicate).length,
    admitted: appended.filter(({ duplicate, error }) => !duplicate && error === undefined).length,
    refused,
  };
}
