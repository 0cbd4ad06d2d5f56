import type { Endpoint } from "../http/endpoint.ts";
import { type AccessParts, accessEndpoints } from "./access.ts";
import * as alerts from "./alerts.ts";
import { type AuditParts, auditEndpoints } from "./audit.ts";
import { discard } from "./discard.ts";
import { endpointOf } from "./endpoint.ts";
import { erase } from "./erase.ts";
import * as events from "./events.ts";
import * as held from "./held.ts";
import * as jobs from "./jobs.ts";
import { listenEndpoint } from "./listen.ts";
import type { Operation, ServerContext } from "./operation.ts";
import { type OutageParts, outageEndpoints } from "./outages.ts";
import { prune } from "./prune.ts";
import { replay } from "./replay.ts";
import { type SessionParts, sessionEndpoints } from "./session.ts";
import { type SetupParts, setupEndpoints } from "./setup.ts";
import { type ShadowParts, shadowEndpoints } from "./shadows.ts";
import { type SourceParts, sourceEndpoints } from "./sources.ts";
import { type StatusParts, statusEndpoints } from "./status.ts";
import { type TokenParts, tokenEndpoints } from "./tokens.ts";

/** What the API of the page uses. */
export type AdminParts = StatusParts &
  AuditParts &
  SourceParts &
  ShadowParts &
  SetupParts &
  OutageParts &
  SessionParts &
  TokenParts &
  AccessParts & {
    context: ServerContext;
  };

/** The API of the page, for the logged-in user. */
export function adminEndpoints(parts: AdminParts): Endpoint[] {
  const endpoint = (one: Operation<ServerContext>) => endpointOf(parts, parts.context, one);
  return [
    ...statusEndpoints(parts),
    ...[events.listed, events.ids, events.shown].map(endpoint),
    events.payloadEndpoint(parts, parts.context),
    ...[replay, discard, erase, prune].map(endpoint),
    ...auditEndpoints(parts),
    ...[jobs.listed, jobs.errors].map(endpoint),
    ...sourceEndpoints(parts),
    ...shadowEndpoints(parts),
    ...[held.listed, held.refusals, held.shown, held.reverify, held.remove, held.explain].map(endpoint),
    listenEndpoint(parts, parts.context),
    ...setupEndpoints(parts),
    ...[alerts.listed, alerts.silence, alerts.unsilence, alerts.test].map(endpoint),
    ...outageEndpoints(parts),
    ...sessionEndpoints(parts),
    ...tokenEndpoints(parts),
    ...accessEndpoints(parts),
  ];
}
