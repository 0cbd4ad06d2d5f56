import { routesOf } from "../config/routes.ts";
import { sourcesOf } from "../config/sources.ts";
import { fieldError } from "../errors.ts";
import { payloadJson } from "../events/json.ts";
import { canonicalAddress } from "../http/proxies.ts";
import { isoTime } from "../lib/iso-time.ts";
import type { HeldParts } from "../operations/held.ts";
import type { DeliveryParts } from "../webhook/endpoints.ts";
import { type HeldDelivery, readInParts } from "../webhook/held/held-store.ts";
import { parseRawRequest, type RawRequest, rawRequestOf } from "../webhook/held/raw-request.ts";
import { shownHeaders, shownPath } from "../webhook/held/shown-held.ts";
import type { Source } from "../webhook/source.ts";
import { admitHeld, createReverify } from "../webhook/stages/reverify.ts";
import type { Wiring } from "./configuration.ts";
import type { RehearsalOptions } from "./explain/rehearsal.ts";

type Held = HeldParts["held"];
type Delivery = { id: number } & HeldDelivery;
/** How a captured request came. */
type Arrival = Pick<RehearsalOptions, "now" | "address" | "sentTo">;

/** What the admin page does with refused deliveries. `judges` are those of the endpoints of sources. */
export function openHeld(
  { settings, config, stores }: Wiring,
  judges: Pick<DeliveryParts, "addressLists" | "acceptsSecret">,
): Held {
  const { held, events, now } = stores;
  const sourceNamed = (name: string) => sourcesOf(settings, config.current).find((source) => source.name === name);

  /** Loads the code at the first call, because most servers never explain a delivery. */
  async function explain(source: Source, raw: RawRequest, arrival: Arrival) {
    const { explainDelivery } = await import("./explain/delivery.ts");
    return explainDelivery(source, raw, {
      ...judges,
      ...arrival,
      routes: routesOf(settings, config.current),
      trustedProxies: settings.TRUSTED_PROXIES,
      isEncrypted: settings.TLS_CERT_FILE !== undefined,
    });
  }

  /** All deliveries of these ids. */
  async function readAll(ids: readonly number[]): Promise<Delivery[]> {
    const wanted = [...new Set(ids)].sort((a, b) => a - b).map((id) => ({ id }));
    const found: Delivery[] = [];
    for await (const part of readInParts(held, wanted)) found.push(...part);
    return found;
  }

  return {
    async show(id) {
      const [delivery] = await held.read([id]);
      if (!delivery) return null;
      const { source: name, reason, method, origin, target, address, receivedAt, mediaType, body } = delivery;
      const source = sourceNamed(name);
      const arrival = {
        now: receivedAt,
        address: canonicalAddress(address) ?? undefined,
        sentTo: { origin, target },
      };
      return {
        id,
        source: name,
        reason,
        mediaType,
        address,
        receivedAt: isoTime(receivedAt),
        bytes: body.length,
        method,
        url: origin + shownPath(delivery),
        headers: shownHeaders(delivery),
        ...payloadJson(body),
        explanation: source ? await explain(source, rawRequestOf(delivery), arrival) : null,
      };
    },
    async reverify(ids, dryRun) {
      const total: Awaited<ReturnType<Held["reverify"]>> = { matched: 0, admitted: 0, duplicates: 0, refused: [] };
      for (const [name, deliveries] of Map.groupBy(await readAll(ids), ({ source }) => source)) {
        const source = sourceNamed(name);
        if (!source) {
          total.refused.push(...deliveries.map(({ id }) => ({ id, reason: "source_not_configured" })));
          continue;
        }
        const reverify = createReverify(source);
        const { genuine, admitted, duplicates, refused } = await admitHeld(
          { events, held },
          deliveries,
          reverify,
          dryRun,
        );
        total.matched += genuine;
        total.admitted += admitted;
        total.duplicates += duplicates;
        total.refused.push(...refused);
      }
      return total;
    },
    async remove(ids) {
      const found = (await readAll(ids)).map(({ id }) => id);
      await held.remove(found);
      return { removed: found.length };
    },
    async explain({ source: name, request, at, url }) {
      const source = sourceNamed(name);
      if (!source) throw fieldError("source", "is not configured");
      const raw = parseRawRequest(Buffer.from(request));
      if (typeof raw === "string") throw fieldError("request", raw);
      return explain(source, raw, { now: at ?? now(), address: undefined, sentTo: sentTo(raw, url) });
    },
  };
}

/** The address that the sender wrote: the given one, else that of the request if it is whole. */
function sentTo({ target }: RawRequest, url: string | undefined): Arrival["sentTo"] {
  const address = url ?? (/^https?:/i.test(target) ? target : undefined);
  if (address === undefined) return undefined;
  // Not from a URL object, which would change some characters.
  const [, origin, rest = ""] = /^(https?:\/\/[^/?#]+)([^#]*)/i.exec(address) ?? [];
  if (origin === undefined) throw fieldError("url", "must be an http or https URL");
  return { origin, target: rest.startsWith("/") ? rest : `/${rest}` };
}
