import { createAuthenticate } from "./auth/authenticate.ts";
import type { Login } from "./auth/login.ts";
import { loginRoute, logoutRoute, meRoute } from "./auth/routes.ts";
import type { SessionStore } from "./auth/sessions/store.ts";
import type { Settings } from "./config/settings.ts";
import type { ErrorCode } from "./errors.ts";
import type { EventStore } from "./events/store.ts";
import type { Route } from "./http/exchange.ts";
import { healthRoute, readyRoute } from "./http/health.ts";
import { metricsRoute } from "./http/metrics-route.ts";
import type { Log } from "./log.ts";
import type { Exposition } from "./metrics.ts";
import type { Intake } from "./webhook/intake.ts";
import { DEFAULT_SCHEMES } from "./webhook/presets.ts";
import { webhookRoute } from "./webhook/routes.ts";
import { createVerifier } from "./webhook/verify.ts";

/** What the routes lead to. */
export interface RouteParts {
  settings: Settings;
  log: Log;
  events: Pick<EventStore, "check">;
  sessions: SessionStore;
  login: Login;
  intake: Intake;
  /** Told of each delivery that is not taken in. */
  onRefused(code: ErrorCode): void;
  renderMetrics(): Promise<Exposition>;
}

/** Every route there is. */
export function listRoutes(parts: RouteParts): Route[] {
  const { settings, log, events, sessions, login, intake, onRefused, renderMetrics } = parts;
  const authenticate = createAuthenticate(
    { id: settings.DEMO_USER_ID, email: settings.DEMO_EMAIL },
    sessions,
    [settings.JWT_SECRET, settings.JWT_SECRET_PREVIOUS].filter((secret) => secret !== undefined),
  );
  const routes: Route[] = [
    { method: "POST", path: "/auth/login", handler: loginRoute(login) },
    { method: "POST", path: "/auth/logout", handler: logoutRoute(authenticate, sessions, log) },
    { method: "GET", path: "/auth/me", handler: meRoute(authenticate), quiet: true },
    { method: "GET", path: "/healthz", handler: healthRoute, quiet: true },
    {
      method: "GET",
      path: "/metrics",
      handler: metricsRoute(renderMetrics, {
        allowedAddresses: settings.METRICS_ALLOWED_ADDRESSES,
        trustedProxies: settings.TRUSTED_PROXIES,
      }),
      quiet: true,
    },
    {
      method: "GET",
      path: "/readyz",
      handler: readyRoute({ events: () => events.check(), sessions: () => sessions.check(settings.DEMO_USER_ID) }, log),
      quiet: true,
    },
  ];
  if (settings.WEBHOOK_SECRET !== undefined) {
    const source = {
      name: "default",
      path: settings.WEBHOOK_PATH,
      verify: createVerifier(DEFAULT_SCHEMES, settings.WEBHOOK_SECRET),
      allowedAddresses: settings.WEBHOOK_ALLOWED_ADDRESSES,
      bodyLimitBytes: settings.WEBHOOK_BODY_LIMIT,
    };
    routes.push({
      method: "POST",
      path: source.path,
      handler: webhookRoute(source, intake, log),
      quiet: true,
      onProblem: onRefused,
    });
  }
  return routes;
}
