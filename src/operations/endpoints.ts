import type { Endpoint } from "../http/endpoint.ts";
import * as access from "./access.ts";
import * as alerts from "./alerts.ts";
import * as audit from "./audit.ts";
import { discard } from "./discard.ts";
import { type AdminGuard, endpointOf } from "./endpoint.ts";
import { erase } from "./erase.ts";
import * as events from "./events.ts";
import * as held from "./held.ts";
import * as jobs from "./jobs.ts";
import { listenEndpoint } from "./listen.ts";
import type { Operation, ServerContext } from "./operation.ts";
import * as outages from "./outages.ts";
import { prune } from "./prune.ts";
import { replay } from "./replay.ts";
import * as routes from "./routes.ts";
import * as session from "./session.ts";
import * as setup from "./setup.ts";
import * as shadows from "./shadows.ts";
import * as sources from "./sources.ts";
import { stats, status } from "./status.ts";
import * as tokens from "./tokens.ts";

/** What the API of the page uses. */
export type AdminParts = AdminGuard & {
  context: ServerContext;
};

/** The API of the page, for the logged-in user. */
export function adminEndpoints(parts: AdminParts): Endpoint[] {
  const endpoint = (one: Operation<ServerContext>) => endpointOf(parts, parts.context, one);
  return [
    ...[status, stats].map(endpoint),
    ...[routes.listed, routes.shown, routes.pause, routes.resume, routes.tryNow].map(endpoint),
    ...[events.listed, events.ids, events.shown].map(endpoint),
    events.payloadEndpoint(parts, parts.context),
    ...[replay, discard, erase, prune].map(endpoint),
    ...[audit.listed, audit.ends].map(endpoint),
    ...[jobs.listed, jobs.errors].map(endpoint),
    endpoint(sources.listed),
    ...[shadows.listed, shadows.differences, shadows.reset].map(endpoint),
    ...[held.listed, held.refusals, held.shown, held.reverify, held.remove, held.explain].map(endpoint),
    listenEndpoint(parts, parts.context),
    ...[setup.presets, setup.preset, setup.secret, setup.sendSample, setup.draft, setup.add].map(endpoint),
    ...[alerts.listed, alerts.silence, alerts.unsilence, alerts.test].map(endpoint),
    ...[outages.listed, outages.catchUp].map(endpoint),
    ...[session.shown, session.revoke].map(endpoint),
    ...[tokens.listed, tokens.create, tokens.revoke].map(endpoint),
    endpoint(access.denials),
  ];
}
