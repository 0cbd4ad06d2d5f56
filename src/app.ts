import type { BlockList } from "node:net";
import packageJson from "../package.json" with { type: "json" };
import type { AdminParts } from "./admin/endpoints.ts";
import type { PageParts } from "./admin/host/endpoints.ts";
import { adminEndpoints, pageOfAdmin } from "./app/admin.ts";
import {
  type BrowserParts,
  homeEndpoint,
  LoginFields,
  loginFormEndpoint,
  loginPageEndpoint,
  logoutFormEndpoint,
  logoutPageEndpoint,
  NoFields,
  PageAnswer,
  RedirectQuery,
  renewEndpoint,
} from "./auth/browser/endpoints.ts";
import type { AuthenticateRequest } from "./auth/browser/guard.ts";
import { type VerifyParts, verifyEndpoint } from "./auth/browser/verify.ts";
import {
  LoginAnswer,
  LoginBody,
  LogoutAnswer,
  loginEndpoint,
  logoutEndpoint,
  MeAnswer,
  meEndpoint,
} from "./auth/endpoints.ts";
import type { Login } from "./auth/login.ts";
import type { SessionStore } from "./auth/sessions.ts";
import type { ErrorCode } from "./errors.ts";
import { createCorsHeaders, preflightEndpoint } from "./http/cors.ts";
import type { Endpoint, RequestHandler } from "./http/endpoint.ts";
import type { Audience } from "./http/known-hosts.ts";
import {
  HealthAnswer,
  healthEndpoint,
  MetricsAnswer,
  metricsEndpoint,
  OpenApiAnswer,
  openApiEndpoint,
  type Readiness,
  ReadyAnswer,
  readyEndpoint,
} from "./http/operations.ts";
import type { Log } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import { type DeliveryParts, sourceEndpoints } from "./webhook/endpoints.ts";
import type { Source } from "./webhook/source.ts";

/** What the endpoints use. */
export interface AppParts {
  log: Log;
  login: Login;
  authenticate: AuthenticateRequest;
  /** Null without pages and a cookie. */
  browser: (BrowserParts & VerifyParts) | null;
  /** Null if `ADMIN` is off. */
  admin: AdminParts | null;
  /** Null without the API, and without pages for browsers. */
  page: PageParts | null;
  /** Origins whose pages may call `/auth/*`. */
  corsOrigins: readonly string[];
  sessions: SessionStore;
  sources: readonly Source[];
  deliveries: DeliveryParts;
  readiness: Readiness;
  /** The id of this start of the server. */
  instance: string;
  metrics: Pick<Metrics, "render">;
  metricsAllowedAddresses: BlockList;
  trustedProxies: BlockList | undefined;
  /** Lets a handler refuse requests to a name that is not known. */
  checkHost: (audience: Audience, handler: RequestHandler) => RequestHandler;
}

// The errors of the token check, and of a body where none is accepted.
const GUARDED: ErrorCode[] = [
  "validation_failed",
  "missing_token",
  "invalid_token",
  "session_invalidated",
  "cross_site_request",
  "payload_too_large",
  "unsupported_media_type",
  "store_unavailable",
];

/** All endpoints, also the one that describes them. */
export function listEndpoints(parts: AppParts): Endpoint[] {
  const named = listNamed(parts).map((endpoint) => ({
    ...endpoint,
    handler: parts.checkHost(audienceOf(endpoint), endpoint.handler),
    problems: [...(endpoint.problems ?? []), "unknown_host" as const],
  }));
  const endpoints: Endpoint[] = [...named, ...listNameless(parts)];
  endpoints.push({
    method: "GET",
    path: "/openapi.json",
    summary: "Describes all endpoints as OpenAPI 3.1.",
    response: OpenApiAnswer,
    problems: ["unknown_host"],
    handler: parts.checkHost("anybody", openApiEndpoint(endpoints, packageJson.version)),
    quiet: true,
  });
  return endpoints;
}

function audienceOf({ method, path }: Endpoint): Audience {
  if (method === "GET" && path === "/login") return "visitors";
  if (path === "/metrics") return "monitoring";
  return path.startsWith("/auth/verify") ? "proxies" : "anybody";
}

/** The endpoints that answer under any name, because no browser uses them: senders and load balancers do. */
function listNameless({ log, sources, deliveries, readiness, instance }: AppParts): Endpoint[] {
  return [
    ...sources.flatMap((source) => sourceEndpoints(source, deliveries)),
    {
      method: "GET",
      path: "/healthz",
      summary: "Answers 200 while the process is running.",
      response: HealthAnswer,
      handler: healthEndpoint,
      quiet: true,
    },
    {
      method: "GET",
      path: "/readyz",
      summary:
        "Answers 200 when all stores are available and deliveries are not paused, else 503 with the unavailable parts. `instance` differs at each start of the server.",
      response: ReadyAnswer,
      statuses: [200, 503],
      handler: readyEndpoint(readiness, instance, log),
      quiet: true,
    },
  ];
}

/** The endpoints that answer under known names only. */
function listNamed(parts: AppParts): Endpoint[] {
  const { log, login, authenticate, sessions, metrics } = parts;
  const access = { allowedAddresses: parts.metricsAllowedAddresses, trustedProxies: parts.trustedProxies };
  const api: Endpoint[] = [
    {
      method: "POST",
      path: "/auth/login",
      summary: "Logs the user in and ends the previous session.",
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
      handler: loginEndpoint(login),
    },
    {
      method: "POST",
      path: "/auth/logout",
      summary: "Ends the session of the token.",
      isGuarded: true,
      response: LogoutAnswer,
      problems: GUARDED,
      handler: logoutEndpoint(authenticate, sessions, log),
    },
    {
      method: "GET",
      path: "/auth/me",
      summary: "Returns the user of the token, if its session is active.",
      isGuarded: true,
      response: MeAnswer,
      problems: GUARDED,
      handler: meEndpoint(authenticate),
      quiet: true,
    },
  ];
  return [
    ...withCors(api, parts.corsOrigins),
    ...(parts.browser ? browserEndpoints(parts.browser) : []),
    ...(parts.admin ? adminEndpoints(parts.admin) : []),
    ...(parts.page ? pageOfAdmin(parts.page) : []),
    {
      method: "GET",
      path: "/metrics",
      summary:
        "Shows the metrics in the text format of Prometheus, to `METRICS_ALLOWED_ADDRESSES` only. Others get 404.",
      response: MetricsAnswer,
      problems: ["not_found"],
      handler: metricsEndpoint(() => metrics.render(), access),
      quiet: true,
    },
  ];
}

/** Lets pages of other origins call endpoints. */
function withCors(endpoints: readonly Endpoint[], origins: readonly string[]): Endpoint[] {
  if (origins.length === 0) return [...endpoints];
  const headersFor = createCorsHeaders(origins);
  return endpoints.flatMap((endpoint) => [
    { ...endpoint, headersFor },
    {
      method: "OPTIONS",
      path: endpoint.path,
      summary: "Answers the preflight request of an origin in `CORS_ALLOWED_ORIGINS`.",
      response: PageAnswer,
      handler: preflightEndpoint(origins, endpoint.method),
      quiet: true,
      headersFor,
    },
  ]);
}

const HTML = "text/html";
const FORM = ["application/x-www-form-urlencoded"];

/** The endpoints for browsers and for proxies that protect apps. */
function browserEndpoints(browser: BrowserParts & VerifyParts): Endpoint[] {
  return [
    {
      method: "GET",
      path: "/",
      summary: "Shows who is logged in, or redirects to the login page.",
      response: PageAnswer,
      statuses: [200, 303],
      mediaTypes: { 200: HTML },
      problems: ["store_unavailable"],
      handler: homeEndpoint(browser),
    },
    {
      method: "GET",
      path: "/login",
      summary: "Shows the login page. While a session lives it redirects to `rd`.",
      query: RedirectQuery,
      response: PageAnswer,
      statuses: [200, 303],
      mediaTypes: { 200: HTML },
      problems: ["store_unavailable"],
      handler: loginPageEndpoint(browser),
    },
    {
      method: "POST",
      path: "/login",
      summary:
        "Logs in with the form fields `email`, `password` and `rd`, sets the cookie and redirects to `rd` or `/`. A refused login is answered with the page, with 400, 401, 429 or 503.",
      request: LoginFields,
      requestTypes: FORM,
      response: PageAnswer,
      statuses: [303, 400, 401, 429, 503],
      mediaTypes: { 400: HTML, 401: HTML, 429: HTML, 503: HTML },
      problems: ["cross_site_request", "validation_failed", "payload_too_large", "unsupported_media_type"],
      handler: loginFormEndpoint(browser),
    },
    {
      method: "GET",
      path: "/logout",
      summary: "Shows a button to log out. Without a session it redirects to the login page.",
      response: PageAnswer,
      statuses: [200, 303],
      mediaTypes: { 200: HTML },
      problems: ["store_unavailable"],
      handler: logoutPageEndpoint(browser),
    },
    {
      method: "POST",
      path: "/logout",
      summary: "Ends the session of the cookie, removes the cookie and redirects to the login page.",
      request: NoFields,
      requestTypes: FORM,
      response: PageAnswer,
      statuses: [303],
      problems: [
        "cross_site_request",
        "validation_failed",
        "payload_too_large",
        "unsupported_media_type",
        "store_unavailable",
      ],
      handler: logoutFormEndpoint(browser),
    },
    {
      method: "GET",
      path: "/login/renew",
      summary:
        "Prolongs the session of the cookie, and redirects to `rd`. `/auth/verify` sends browsers here. If `rd` is refused, a page tells it.",
      query: RedirectQuery,
      response: PageAnswer,
      statuses: [200, 303],
      mediaTypes: { 200: HTML },
      problems: ["store_unavailable"],
      handler: renewEndpoint(browser),
      quiet: true,
    },
    {
      method: "*",
      path: "/auth/verify",
      summary:
        "Tells a proxy whether a request may pass: 200 with `Remote-User` and `Remote-Email`, else 401. For a browser that opens a page, the 401 has the `Location` of the login page.",
      response: PageAnswer,
      statuses: [200, 401],
      problems: VERIFY_PROBLEMS,
      handler: verifyEndpoint(browser, "unauthorized"),
      quiet: true,
    },
    {
      method: "*",
      path: "/auth/verify/redirect",
      summary: "Like `/auth/verify`, but redirects a browser that opens a page, with 302 or 303 instead of 401.",
      response: PageAnswer,
      statuses: [200, 302, 303],
      problems: VERIFY_PROBLEMS,
      handler: verifyEndpoint(browser, "redirect"),
      quiet: true,
    },
  ];
}

const VERIFY_PROBLEMS: ErrorCode[] = ["missing_token", "invalid_token", "session_invalidated", "store_unavailable"];
