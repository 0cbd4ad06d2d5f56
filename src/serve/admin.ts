import { setTimeout as delay } from "node:timers/promises";
import type { PageParts } from "../admin/host/endpoints.ts";
import type { ManualParts } from "../admin/host/manual.ts";
import { testNotifiers } from "../alerts/test-notifiers.ts";
import { textsFor } from "../auth/browser/texts.ts";
import { routesOf, shadowsOf } from "../config/routes.ts";
import type { Settings } from "../config/settings.ts";
import { sourcesOf } from "../config/sources.ts";
import { DEFAULT_RETENTION } from "../events/retention.ts";
import { pageUrlOf } from "../http/listen.ts";
import { isoTime } from "../lib/iso-time.ts";
import type { AdminParts } from "../operations/endpoints.ts";
import type { ServerContext } from "../operations/operation.ts";
import { readPage, readSiteFile } from "../platform/checkout.ts";
import type { DeliveryParts } from "../webhook/endpoints.ts";
import { openNotify } from "./alerts.ts";
import { createAudit } from "./audit.ts";
import type { Wiring } from "./configuration.ts";
import { draftSources } from "./new-sources.ts";

/** How long a request takes many events. Its sender continues with the cursor. */
const BUDGET_MS = 5000;
/** Deliveries get their turn between two pages. */
const PAUSE_MS = 20;

interface AdminNeeds
  extends Pick<AdminParts, "authorize">,
    Pick<
      ServerContext,
      "admission" | "denials" | "addresses" | "catchUps" | "isAvailable" | "recentRefusals" | "arrivals"
    > {
  /** What judges deliveries besides their source. */
  judges: Pick<DeliveryParts, "addressLists" | "acceptsSecret">;
  /** Takes the path of a source that is about to be added. */
  expectPath: (path: string) => void;
}

/** The parts of the API of the page; null if `ADMIN` is off. */
export function openAdmin(wiring: Wiring, needs: AdminNeeds): AdminParts | null {
  const { authorize, admission, isAvailable, denials, recentRefusals, arrivals, addresses, judges, catchUps } = needs;
  const { settings, config, stores, people, log } = wiring;
  if (settings.ADMIN === "off") return null;
  const { ADMIN_ALLOWED_ADDRESSES: allowedAddresses, TRUSTED_PROXIES: trustedProxies } = settings;
  const { now } = stores;

  return {
    authorize,
    audit: createAudit(wiring),
    context: {
      stores,
      routes: async () => routesOf(settings, config.current),
      shadows: async () => shadowsOf(settings, config.current),
      sources: async () => sourcesOf(settings, config.current),
      clients: async () => config.current?.clients ?? [],
      people: async () => people.list(),
      testNotifiers() {
        const links = { url: addresses.public, page: pageUrlOf(settings, addresses.public) };
        return testNotifiers(openNotify(wiring, links), config.current?.alerts.notifiers ?? [], now());
      },
      isAvailable,
      retention: async () => config.current?.retention ?? DEFAULT_RETENTION,
      pace() {
        const endsAt = performance.now() + BUDGET_MS;
        return async () => {
          if (performance.now() >= endsAt) return false;
          await delay(PAUSE_MS);
          return true;
        };
      },
      log,
      arrivals,
      recentRefusals,
      async explain(source, raw, arrival) {
        // Loaded at the first call, because most servers never explain a delivery.
        const { explainDelivery } = await import("./explain/delivery.ts");
        return explainDelivery(source, raw, {
          ...judges,
          ...arrival,
          routes: routesOf(settings, config.current),
          trustedProxies,
          isEncrypted: settings.TLS_CERT_FILE !== undefined,
        });
      },
      hasManual: settings.DOCS !== "off",
      startedAt: isoTime(now()),
      configFault: () => config.fault,
      notifiers: () => (config.current?.alerts.notifiers ?? []).map(({ name, kind }) => ({ name, kind })),
      admission,
      denials,
      addresses,
      catchUps,
      draftSource: draftSources(wiring, { addresses, expectPath: needs.expectPath }),
    },
    access: allowedAddresses === undefined ? null : { allowedAddresses, trustedProxies },
  };
}

/**
 * The parts of the page itself. Null without the API, and without pages for browsers, because then nobody can log in to
 * it.
 */
export function openPage(
  { settings }: Wiring,
  admin: AdminParts | null,
  authenticate: PageParts["authenticate"] | null,
): PageParts | null {
  if (admin === null || authenticate === null) return null;
  const languageFor: PageParts["languageFor"] = (acceptLanguage) => textsFor(acceptLanguage).lang;
  return { ...placeOf(settings), authenticate, access: admin.access, readFiles: readPage, languageFor };
}

/** The parts of the manual. Null if it is off, or behind a login that has no pages. */
export function openManual({ settings }: Wiring, authenticate: PageParts["authenticate"] | null): ManualParts | null {
  const { DOCS: readers } = settings;
  if (readers === "off" || (readers === "login" && authenticate === null)) return null;
  return { ...placeOf(settings), authenticate: readers === "public" ? null : authenticate, readFile: readSiteFile };
}

function placeOf({ PUBLIC_URL: url, TRUSTED_PROXIES: trustedProxies }: Settings) {
  return { base: url === undefined ? "" : url.slice(new URL(url).origin.length), trustedProxies };
}
