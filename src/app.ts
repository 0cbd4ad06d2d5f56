import type { BlockList } from "node:net";
import type { Authenticate } from "./auth/authenticate.ts";
import type { Login } from "./auth/login.ts";
import { LoginAnswer, LoginBody, LogoutAnswer, loginRoute, logoutRoute, MeAnswer, meRoute } from "./auth/routes.ts";
import type { SessionStore } from "./auth/sessions.ts";
import type { ErrorCode } from "./errors.ts";
import {
  HealthAnswer,
  healthRoute,
  MetricsAnswer,
  metricsRoute,
  ReadyAnswer,
  type ReadyParts,
  readyRoute,
} from "./http/operations.ts";
import type { Route } from "./http/route.ts";
import type { Log } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import type { Intake } from "./webhook/intake.ts";
import { DeliveryAnswer, DeliveryBody, webhookRoute } from "./webhook/routes.ts";
import type { Source } from "./webhook/source.ts";

/** What the routes lead to. */
export interface AppParts {
  log: Log;
  login: Login;
  authenticate: Authenticate;
  sessions: SessionStore;
  sources: readonly Source[];
  intake: Intake;
  /** Told of each delivery that is not taken in. */
  onRefused(code: ErrorCode, reason?: string): void;
  ready: ReadyParts;
  /** Names this start of the server. */
  instance: string;
  metrics: Pick<Metrics, "render">;
  metricsAllowedAddresses: BlockList;
  trustedProxies: BlockList | undefined;
}

/** Every route there is. */
export function listRoutes(parts: AppParts): Route[] {
  const { log, login, authenticate, sessions, sources, intake, onRefused, ready, metrics } = parts;
  const access = { allowedAddresses: parts.metricsAllowedAddresses, trustedProxies: parts.trustedProxies };
  return [
    {
      method: "POST",
      path: "/auth/login",
      request: LoginBody,
      response: LoginAnswer,
      handler: loginRoute(login),
    },
    {
      method: "POST",
      path: "/auth/logout",
      response: LogoutAnswer,
      handler: logoutRoute(authenticate, sessions, log),
    },
    {
      method: "GET",
      path: "/auth/me",
      response: MeAnswer,
      handler: meRoute(authenticate),
      quiet: true,
    },
    ...sources.map(
      (source): Route => ({
        method: "POST",
        path: source.path,
        request: DeliveryBody,
        response: DeliveryAnswer,
        handler: webhookRoute(source, intake, log),
        quiet: true,
        onProblem: onRefused,
      }),
    ),
    {
      method: "GET",
      path: "/healthz",
      response: HealthAnswer,
      handler: healthRoute,
      quiet: true,
    },
    {
      method: "GET",
      path: "/readyz",
      response: ReadyAnswer,
      handler: readyRoute(ready, parts.instance, log),
      quiet: true,
    },
    {
      method: "GET",
      path: "/metrics",
      response: MetricsAnswer,
      handler: metricsRoute(() => metrics.render(), access),
      quiet: true,
    },
  ];
}
