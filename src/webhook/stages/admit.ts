import type { EventStore } from "../../events/store.ts";
import type { HeldDelivery, HeldStore } from "../held/held-store.ts";
import type { createReverify } from "./reverify.ts";

/** What became of held deliveries. `refused` stay held, each with the reason. */
export interface AdmittedHeld {
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
  reverify: ReturnType<typeof createReverify>,
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
