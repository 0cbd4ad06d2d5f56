import packageJson from "../package.json" with { type: "json" };
import { adminPageEndpoints, type PageParts } from "./admin/host/endpoints.ts";
import { type ManualParts, manualEndpoints } from "./admin/host/manual.ts";
import type { JudgeAccess } from "./auth/access/rules.ts";
import { type AccountParts, accountEndpoints } from "./auth/browser/account.ts";
import type { ClientParts } from "./auth/browser/client-authorization.ts";
import { clientEndpoints } from "./auth/browser/clients.ts";
import { deviceEndpoints, unboundEndpoint } from "./auth/browser/device-binding.ts";
import type { EndSessionParts } from "./auth/browser/end-session.ts";
import { pageEndpoints } from "./auth/browser/endpoints.ts";
import { type InvitationParts, invitationEndpoints } from "./auth/browser/invitation.ts";
import { type VerifyParts, verifyEndpoints } from "./auth/browser/verify.ts";
import { type AuthParts, authEndpoints } from "./auth/endpoints.ts";
import { withCors } from "./http/cors.ts";
import type { Audience, Endpoint, RequestHandler } from "./http/endpoint.ts";
import {
  type HealthParts,
  healthEndpoints,
  type MetricsParts,
  metricsEndpoint,
  openApiEndpoint,
} from "./http/health.ts";
import { type AdminParts, adminEndpoints } from "./operations/endpoints.ts";
import { type DeliveryParts, sourceEndpoints } from "./webhook/endpoints.ts";
import type { Source } from "./webhook/source.ts";

/** What the endpoints use. */
export interface AppParts extends AuthParts, HealthParts, MetricsParts {
  /** Null without pages and a cookie. */
  browser: (AccountParts & EndSessionParts & Omit<VerifyParts, "access" | "onAccess">) | null;
  /** Null without people in the configuration file. */
  invitations: InvitationParts | null;
  /** Null without pages and a cookie. */
  clients: ClientParts | null;
  /** Judges forward-auth by the configuration file. */
  access: JudgeAccess;
  onAccess: VerifyParts["onAccess"];
  /** Null if `ADMIN` is off. */
  admin: AdminParts | null;
  /** Null without the API, and without pages for browsers. */
  page: PageParts | null;
  /** Null if `DOCS` is off, and without pages for browsers unless it is public. */
  manual: ManualParts | null;
  /** Origins whose pages may call `/auth/*`. */
  corsOrigins: readonly string[];
  sources: readonly Source[];
  deliveries: DeliveryParts;
  /** Lets a handler refuse requests to a name that is not known. */
  checkHost: (audience: Audience, handler: RequestHandler) => RequestHandler;
}

/** All endpoints, also the one that describes them. */
export function listEndpoints(parts: AppParts): Endpoint[] {
  const { browser, invitations, clients, admin, page, manual, sources, deliveries, checkHost } = parts;

  function withHostCheck(endpoint: Endpoint): Endpoint {
    const { audience = "anybody", handler, problems = [] } = endpoint;
    if (audience === "senders") return endpoint;
    return { ...endpoint, handler: checkHost(audience, handler), problems: [...problems, "unknown_host"] };
  }

  const endpoints = [
    ...withCors(authEndpoints(parts), parts.corsOrigins),
    ...(browser ? [...pageEndpoints(browser), unboundEndpoint(browser)] : []),
    ...(browser && browser.device !== null ? deviceEndpoints(browser, browser.device) : []),
    ...(browser ? accountEndpoints(browser) : []),
    ...(browser && invitations ? invitationEndpoints({ ...browser, ...invitations }) : []),
    ...(browser ? verifyEndpoints({ ...browser, access: parts.access, onAccess: parts.onAccess }) : []),
    ...(clients ? clientEndpoints(clients) : []),
    ...(admin ? adminEndpoints(admin) : []),
    ...(page ? adminPageEndpoints(page) : []),
    ...(manual ? manualEndpoints(manual) : []),
    metricsEndpoint(parts),
    ...sources.flatMap((source) => sourceEndpoints(source, deliveries)),
    ...healthEndpoints(parts),
  ].map(withHostCheck);
  endpoints.push(withHostCheck(openApiEndpoint(endpoints, packageJson.version)));
  return endpoints;
}
