import { type AppParts, listEndpoints } from "../app.ts";
import { createDenials } from "../auth/access/denials.ts";
import { createAccess } from "../auth/access/rules.ts";
import { createAuthenticate } from "../auth/authenticate.ts";
import { createOwnerGuard, createRequestGuard, createScopeGuard, machineTokenOf } from "../auth/browser/guard.ts";
import { createMachineTokens, insufficientScope } from "../auth/machine-tokens/machine-tokens.ts";
import { personOfToken, requireOwner } from "../auth/people/people.ts";
import type { ConfigFile } from "../config/file/config-file.ts";
import { sourcesOf } from "../config/sources.ts";
import type { ArrivalWatch } from "../events/arrival-watch.ts";
import type { MetricsParts, Readiness } from "../http/health.ts";
import { createHostCheck, knownHosts } from "../http/known-hosts.ts";
import { hostOf, publicUrlOf } from "../http/listen.ts";
import { countAccess } from "../instrument.ts";
import type { Admission } from "../webhook/intake/admission.ts";
import { openAccessLog } from "./access-log.ts";
import { openAdmin, openManual, openPage } from "./admin.ts";
import { createAudit } from "./audit.ts";
import { openBinding, openBrowser, openInvitations } from "./browser.ts";
import type { CatchUps } from "./catch-up.ts";
import type { Clients } from "./clients.ts";
import type { Wiring } from "./configuration.ts";
import type { Deliveries } from "./deliveries.ts";
import type { Listener } from "./listener.ts";
import type { Logins } from "./login.ts";
import type { Part } from "./parts.ts";
import { createStrays } from "./strays.ts";
import type { Watched } from "./watched.ts";

interface EndpointNeeds {
  listener: Listener;
  logins: Logins;
  admission: Admission;
  deliveries: Deliveries;
  readiness: Readiness;
  arrivals: ArrivalWatch;
  isAvailable: (route: string) => boolean;
  catchUps: CatchUps;
  clients: Clients;
  readWatched: () => Promise<Watched>;
}

/** Creates all endpoints of a server that listens, and serves them from its start. */
export function openEndpoints(wiring: Wiring, needs: EndpointNeeds): Part {
  const { settings, config, stores, people, metrics, instance, log } = wiring;
  const { listener, logins, admission, deliveries, readiness, arrivals, isAvailable, catchUps, clients, readWatched } =
    needs;
  const { sessions, throttle, tokens, factors, logBytes, now } = stores;
  const { TRUSTED_PROXIES: trustedProxies, CORS_ALLOWED_ORIGINS: corsOrigins } = settings;
  const secrets = [settings.JWT_SECRET, settings.JWT_SECRET_PREVIOUS].filter((secret) => secret !== undefined);
  const binding = openBinding(settings, listener.url(), { secrets, now });
  const authenticate = createAuthenticate(people, sessions, secrets, now, binding);
  const machineTokens = createMachineTokens(tokens, now);
  const hostRules = {
    listeningHost: hostOf(settings),
    publicUrl: settings.PUBLIC_URL,
    allowedHosts: settings.ALLOWED_HOSTS,
    trustedProxies,
  };
  const checkHost = createHostCheck(hostRules);
  const isToKnownHost = knownHosts(hostRules);
  const browser = openBrowser(settings, listener.url(), {
    ...{
      logins,
      authenticate,
      binding,
      sessions,
      secrets,
      throttle,
      people,
      factors,
      clients,
      tokens,
      isToKnownHost,
      machineTokens,
      log,
      now,
    },
    audit: createAudit(wiring),
    onProof: (outcome) => metrics.deviceProofs.inc({ outcome }),
    onQuestionFault: (questionFault) => instance.update({ questionFault }),
  });
  const invitations = browser && openInvitations(browser, stores.people);
  const guard = createRequestGuard(authenticate, browser, corsOrigins);
  const authorize = createScopeGuard(guard, machineTokens, people);
  const addresses = {
    local: listener.url("127.0.0.1"),
    public: publicUrlOf(settings, listener.url()) ?? listener.url(),
  };
  const denials = createDenials(now);
  const accessLog = openAccessLog(wiring);
  const count = countAccess(metrics);
  const onAccess: AppParts["onAccess"] = (outcome) => {
    count(outcome);
    accessLog.add(outcome);
    if (outcome.decision === "denied") denials.add(outcome);
  };
  const judges = deliveries.endpointParts;
  const strays = createStrays(deliveries.recentRefusals, instance);
  const admin = openAdmin(wiring, {
    expectPath: strays.expect,
    authorize,
    admission,
    isAvailable,
    denials,
    recentRefusals: deliveries.recentRefusals.list,
    arrivals,
    addresses,
    judges,
    catchUps,
  });
  const page = openPage(wiring, admin, browser === null ? null : createOwnerGuard(guard, people));
  const manual = openManual(wiring, browser === null ? null : guard);
  const hasScope: MetricsParts["hasScope"] = async (context, scope) => {
    const token = await machineTokenOf(context, machineTokens);
    if (token === null) return false;
    requireOwner(personOfToken(people.list(), token.name));
    if (!token.scopes.includes(scope)) throw insufficientScope(scope);
    return true;
  };
  const metricsText = metrics.exposition({
    readWatched,
    isAvailable,
    intake: deliveries.intake,
    queueLimit: settings.WEBHOOK_QUEUE_LIMIT,
    logBytes,
    admission,
    readiness,
    appendError: deliveries.appendError,
    now,
  });
  function apply(file: ConfigFile | null): void {
    const sources = sourcesOf(settings, file);
    const endpoints = listEndpoints({
      log,
      login: logins.login,
      authenticate: guard,
      sessions,
      browser,
      // Without people everything answers as before.
      invitations: file?.people ? invitations : null,
      access: createAccess(file?.access ?? []),
      onAccess,
      admin,
      page,
      manual,
      clients: browser && { ...clients, clients: file?.clients ?? [], store: stores.clients, browser },
      corsOrigins,
      sources,
      deliveries: deliveries.endpointParts,
      readiness,
      instance: instance.id,
      metrics: metricsText,
      hasScope,
      metricsAllowedAddresses: settings.METRICS_ALLOWED_ADDRESSES,
      trustedProxies,
      checkHost,
    });
    listener.replaceEndpoints(endpoints, strays.watch(sources, endpoints));
  }
  return {
    start() {
      accessLog.start();
      apply(config.current);
    },
    apply,
    async stop() {
      strays.stop();
      await accessLog.stop();
    },
  };
}
