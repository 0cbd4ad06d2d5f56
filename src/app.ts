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
import { type DeliveryParts, sourceRoute } from "./webhook/routes.ts";
import type { Source } from "./webhook/source.ts";

/** What the routes use. */
export interface AppParts {
  log: Log;
  login: Login;
  authenticate: Authenticate;
  sessions: SessionStore;
  sources: readonly Source[];
  deliveries: DeliveryParts;
  ready: ReadyParts;
  /** The id of this start of the server. */
  instance: string;
  metrics: Pick<Metrics, "render">;
  metricsAllowedAddresses: BlockList;
  trustedProxies: BlockList | undefined;
}

const BEARER = "`Authorization: Bearer <accessToken>`";

// The errors of the token check, and of a body where none is accepted.
const GUARDED: ErrorCode[] = [
  "validation_failed",
  "missing_token",
  "invalid_token",
  "session_invalidated",
  "payload_too_large",
  "unsupported_media_type",
  "store_unavailable",
];

/** All routes. */
export function listRoutes(parts: AppParts): Route[] {
  const { log, login, authenticate, sessions, sources, deliveries, ready, metrics } = parts;
  const access = { allowedAddresses: parts.metricsAllowedAddresses, trustedProxies: parts.trustedProxies };
  return [
    {
      method: "POST",
      path: "/auth/login",
      summary:
        "Logs the user in and ends the previous session. A password has 6 to 1024 characters, compared in Unicode NFC, and at most 64 combining marks in a row.",
      request: LoginBody,
      response: LoginAnswer,
      problems: [
        "malformed_json",
        "validation_failed",
        "invalid_credentials",
        "payload_too_large",
        "unsupported_media_type",
        "too_many_attempts",
        "login_busy",
        "store_unavailable",
      ],
      handler: loginRoute(login),
    },
    {
      method: "POST",
      path: "/auth/logout",
      summary: "Ends the session of the token.",
      needs: BEARER,
      response: LogoutAnswer,
      problems: GUARDED,
      handler: logoutRoute(authenticate, sessions, log),
    },
    {
      method: "GET",
      path: "/auth/me",
      summary: "Returns the user of the token, if its session is active.",
      needs: BEARER,
      response: MeAnswer,
      problems: GUARDED,
      handler: meRoute(authenticate),
      quiet: true,
    },
    ...sources.map((source) => sourceRoute(source, deliveries)),
    {
      method: "GET",
      path: "/healthz",
      summary: "Answers 200 while the process is running.",
      response: HealthAnswer,
      handler: healthRoute,
      quiet: true,
    },
    {
      method: "GET",
      path: "/readyz",
      summary:
        "Answers 200 when all stores are available and deliveries are not paused, else 503 with the unavailable parts. `instance` differs at each start of the server.",
      response: ReadyAnswer,
      statuses: [200, 503],
      handler: readyRoute(ready, parts.instance, log),
      quiet: true,
    },
    {
      method: "GET",
      path: "/metrics",
      summary:
        "Shows the metrics in the text format of Prometheus, to `METRICS_ALLOWED_ADDRESSES` only. Others get 404.",
      response: MetricsAnswer,
      handler: metricsRoute(() => metrics.render(), access),
      quiet: true,
    },
  ];
}
