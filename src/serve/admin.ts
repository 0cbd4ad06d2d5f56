import { setTimeout as delay } from "node:timers/promises";
import packageJson from "../../package.json" with { type: "json" };
import type { PageParts } from "../admin/host/endpoints.ts";
import { silenceOf } from "../alerts/rules.ts";
import { testNotifiers } from "../alerts/test-notifiers.ts";
import type { Denial } from "../auth/access/denials.ts";
import { textsFor } from "../auth/browser/texts.ts";
import { createToken, DEFAULT_EXPIRY_MS, tokenJson } from "../auth/machine-tokens/manage.ts";
import { routesOf, shadowsOf } from "../config/routes.ts";
import { sourcesOf } from "../config/sources.ts";
import type { ArrivalWatch } from "../events/arrival-watch.ts";
import { DEFAULT_RETENTION } from "../events/retention.ts";
import { pageUrlOf } from "../http/listen.ts";
import { isoTime } from "../lib/iso-time.ts";
import type { AdminParts } from "../operations/endpoints.ts";
import { readPage } from "../platform/checkout.ts";
import type { DeliveryParts } from "../webhook/endpoints.ts";
import type { Admission } from "../webhook/intake/admission.ts";
import type { RecentRefusal } from "../webhook/intake/refusals.ts";
import { overviewOf } from "../webhook/intake/source-overview.ts";
import { rotationFindings } from "../webhook/secrets/rotation.ts";
import { conditionTexts } from "../worker/conditions.ts";
import { retryDelaysMs } from "../worker/decide.ts";
import { overviewOfRoutes, targetOf } from "../worker/route-overview.ts";
import { openNotify } from "./alerts.ts";
import { createAudit } from "./audit.ts";
import type { Wiring } from "./configuration.ts";
import { openOutageReports } from "./outages.ts";
import { openSourceSetup, type ServerAddresses } from "./source-setup.ts";

/** How long a request takes many events. Its sender continues with the cursor. */
const BUDGET_MS = 5000;
/** Deliveries get their turn between two pages. */
const PAUSE_MS = 20;

interface AdminNeeds extends Pick<AdminParts, "authorize"> {
  admission: Pick<Admission, "pausedBy" | "freeBytes" | "minFreeBytes">;
  isAvailable: (route: string) => boolean;
  denials: { list(): readonly Denial[] };
  recentRefusals(): readonly RecentRefusal[];
  arrivals: ArrivalWatch;
  /** Where the server is reached. */
  addresses: ServerAddresses;
  /** What judges deliveries besides their source. */
  judges: Pick<DeliveryParts, "addressLists" | "acceptsSecret">;
  catchUps: Parameters<typeof openOutageReports>[1];
}

/** The parts of the API of the page; null if `ADMIN` is off. */
export function openAdmin(
  wiring: Wiring,
  { authorize, admission, isAvailable, denials, recentRefusals, arrivals, addresses, judges, catchUps }: AdminNeeds,
): AdminParts | null {
  const { settings, config, stores, log } = wiring;
  if (settings.ADMIN === "off") return null;
  const { ADMIN_ALLOWED_ADDRESSES: allowedAddresses, TRUSTED_PROXIES: trustedProxies } = settings;
  const { events, sources, sessions, tokens, shared, now } = stores;
  const { DEMO_USER_ID: userId, DEMO_EMAIL: email } = settings;
  const startedAt = isoTime(now());

  async function readRoutes() {
    const [records, unavailable] = await Promise.all([events.routes(now()), events.unavailableRoutes(now())]);
    return overviewOfRoutes(routesOf(settings, config.current), records).map(
      ({ name, configured, pausedAt, pausedUntil, ...counts }) => {
        const outage = unavailable.find(({ route }) => route === name);
        return {
          name,
          configured: configured !== null,
          sources: configured?.sources ? [...configured.sources] : null,
          types: [...(configured?.types ?? [])],
          handler: configured?.handler.kind ?? null,
          target: configured && targetOf(configured.handler),
          ...counts,
          pausedAt: isoTime(pausedAt),
          pausedUntil: isoTime(pausedUntil),
          available: outage === undefined && isAvailable(name),
          unavailableSince: isoTime(outage?.since ?? null),
          nextProbeAt: isoTime(outage?.probeAt ?? null),
        };
      },
    );
  }

  async function countNodes(): Promise<number> {
    return shared === null ? 1 : (await shared.nodes.list()).filter(({ isAlive }) => isAlive).length;
  }

  return {
    authorize,
    audit: createAudit(wiring),
    context: {
      stores,
      routes: () => routesOf(settings, config.current),
      shadows: () => shadowsOf(settings, config.current),
      sources: () => sourcesOf(settings, config.current),
      testNotifiers() {
        const links = { url: addresses.public, page: pageUrlOf(settings, addresses.public) };
        return testNotifiers(openNotify(wiring, links), config.current?.alerts.notifiers ?? [], now());
      },
      isAvailable,
      retention: () => config.current?.retention ?? DEFAULT_RETENTION,
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
    },
    readAudit: stores.audit,
    events,
    readRoutes,
    readRoute(name) {
      const route = routesOf(settings, config.current).find((one) => one.name === name);
      if (!route) return null;
      const { retry, sources: taken, types, when, orderBy, whenStuck, timeoutMs, concurrency, ratePerSecond } = route;
      return {
        ...{ name, orderBy, whenStuck, timeoutMs, concurrency, ratePerSecond },
        sources: taken && [...taken],
        types: [...types],
        when: conditionTexts(when),
        attempts: retry.attempts,
        delaysMs: retryDelaysMs(retry, () => 0.5),
        giveUpOn: (retry.giveUpOn ?? []).map(
          ({ from, to, isExcluded }) => `${isExcluded ? "!" : ""}${from}${to === from ? "" : `-${to}`}`,
        ),
      };
    },
    listShadows: () =>
      shadowsOf(settings, config.current).map(({ name, of, ignore, handler }) => ({
        ...{ name, of, target: handler.url },
        ignore: [...ignore],
      })),
    async readStatus() {
      const [{ oldestQueuedAt, ...backlog }, routes, nodes] = await Promise.all([
        events.backlog(),
        readRoutes(),
        countNodes(),
      ]);
      return {
        version: packageJson.version,
        startedAt,
        store: settings.DATABASE_URL === undefined ? "sqlite" : "postgres",
        nodes,
        disk: { freeBytes: finite(admission.freeBytes), minFreeBytes: finite(admission.minFreeBytes) },
        paused: admission.pausedBy(),
        configFault: config.fault,
        events: { ...backlog, oldestQueuedAt: isoTime(oldestQueuedAt) },
        routes,
      };
    },
    async readSources() {
      const configured = sourcesOf(settings, config.current);
      const records = await sources.list();
      return overviewOf(configured, records).map((source, index) => {
        const expectEveryMs = configured[index]?.expectEveryMs ?? null;
        const record = records.find((one) => one.source === source.name);
        const uses = record?.secrets ?? [];
        const sender = configured[index];
        return {
          ...source,
          url: addresses.public + source.path,
          lastReceivedAt: isoTime(source.lastReceivedAt),
          secretUses: uses.map(({ name, firstUsedAt, lastUsedAt }) => ({
            name,
            firstUsedAt: isoTime(firstUsedAt),
            lastUsedAt: isoTime(lastUsedAt),
          })),
          findings: sender ? rotationFindings(sender, record, now()) : [],
          keepsRejected: configured[index]?.keepRejected !== undefined,
          expectEvery: expectEveryMs,
          silent: silenceOf({ expectEveryMs, lastReceivedAt: source.lastReceivedAt }, now()) !== null,
        };
      });
    },
    setup: openSourceSetup(wiring, addresses),
    outages: openOutageReports(wiring, catchUps),
    session: { userId, email, find: () => sessions.find(userId), revoke: () => sessions.remove(userId) },
    tokens: {
      list: async () => (await tokens.list()).map(tokenJson),
      async create({ expiresInMs = DEFAULT_EXPIRY_MS, ...request }) {
        const created = await createToken(tokens, { ...request, expiresInMs }, now());
        if ("member" in created) return created;
        const { token, record } = created;
        log.info({ event: "token_created", name: record.name, scopes: record.scopes }, "a token was created");
        return { ...tokenJson(record), token };
      },
      async revoke(names) {
        const revoked = await tokens.revoke(names);
        for (const name of revoked) log.info({ event: "token_revoked", name }, "a token was revoked");
        return revoked;
      },
    },
    readDenials: () => denials.list().map(({ at, ...denial }) => ({ ...denial, at: isoTime(at) })),
    access: allowedAddresses === undefined ? null : { allowedAddresses, trustedProxies },
    now,
  };
}

/** JSON has no infinity. */
const finite = (bytes: number | null) => (bytes === null || Number.isFinite(bytes) ? bytes : null);

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
  const { access } = admin;
  const languageFor: PageParts["languageFor"] = (acceptLanguage) => textsFor(acceptLanguage).lang;
  const base =
    settings.PUBLIC_URL === undefined ? "" : settings.PUBLIC_URL.slice(new URL(settings.PUBLIC_URL).origin.length);
  return { authenticate, access, base, readFiles: readPage, languageFor, trustedProxies: settings.TRUSTED_PROXIES };
}
