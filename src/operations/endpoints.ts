import type { Endpoint } from "../http/endpoint.ts";
import * as access from "./access.ts";
import * as alerts from "./alerts.ts";
import * as audit from "./audit.ts";
import * as clients from "./clients.ts";
import { discard } from "./discard.ts";
import { type AdminGuard, endpointOf } from "./endpoint.ts";
import { erase } from "./erase.ts";
import * as events from "./events.ts";
import * as held from "./held.ts";
import * as jobs from "./jobs.ts";
import * as keys from "./keys.ts";
import { listenEndpoint } from "./listen.ts";
import type { Asking, Operation, ServerContext } from "./operation.ts";
import * as outages from "./outages.ts";
import * as people from "./people.ts";
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
  /** Who asks is known at each request. */
  context: Omit<ServerContext, keyof Asking>;
};

/** Every operation. */
const OPERATIONS = [
  ...[status, stats],
  ...[routes.listed, routes.shown, routes.pause, routes.resume, routes.tryNow],
  ...[events.listed, events.ids, events.shown],
  ...[replay, discard, erase, prune],
  ...[audit.listed, audit.ends],
  ...[jobs.listed, jobs.errors],
  sources.listed,
  ...[shadows.listed, shadows.differences, shadows.reset],
  ...[held.listed, held.refusals, held.shown, held.reverify, held.remove, held.explain],
  ...[setup.presets, setup.preset, setup.secret, setup.sendSample, setup.draft],
  ...[alerts.listed, alerts.silence, alerts.unsilence, alerts.test],
  ...[outages.listed, outages.catchUp],
  ...[session.shown, session.revoke],
  people.listed,
  ...[clients.listed, clients.retry],
  ...[tokens.listed, tokens.create, tokens.revoke],
  ...[keys.listed, keys.rotate],
  access.denials,
] as const;

/** The type of any of them, by which the page knows what a path takes and answers. */
export type DeclaredOperation = (typeof OPERATIONS)[number];

/** The API of the page, for the logged-in user. */
export function adminEndpoints(parts: AdminParts): Endpoint[] {
  return [
    ...OPERATIONS.map((one: Operation<ServerContext>) => endpointOf(parts, parts.context, one)),
    events.payloadEndpoint(parts, parts.context),
    listenEndpoint(parts, parts.context),
  ];
}
