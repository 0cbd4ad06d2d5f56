import type { Endpoint } from "../http/endpoint.ts";
import { type AccessParts, accessEndpoints } from "./access.ts";
import * as alerts from "./alerts.ts";
import { type AuditParts, auditEndpoints } from "./audit.ts";
import { endpointOf } from "./endpoint.ts";
import { type EraseParts, eraseEndpoints } from "./erase.ts";
import { type EventParts, eventEndpoints } from "./events.ts";
import { type HeldParts, heldEndpoints } from "./held.ts";
import { type JobParts, jobEndpoints } from "./jobs.ts";
import { type ListenParts, listenEndpoints } from "./listen.ts";
import type { Operation, ServerContext } from "./operation.ts";
import { type OutageParts, outageEndpoints } from "./outages.ts";
import { type SessionParts, sessionEndpoints } from "./session.ts";
import { type SetupParts, setupEndpoints } from "./setup.ts";
import { type ShadowParts, shadowEndpoints } from "./shadows.ts";
import { type SourceParts, sourceEndpoints } from "./sources.ts";
import { type StatusParts, statusEndpoints } from "./status.ts";
import { type TokenParts, tokenEndpoints } from "./tokens.ts";

/** What the API of the page uses. */
export type AdminParts = StatusParts &
  EventParts &
  EraseParts &
  AuditParts &
  JobParts &
  SourceParts &
  ShadowParts &
  HeldParts &
  ListenParts &
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
    ...eventEndpoints(parts),
    ...eraseEndpoints(parts),
    ...auditEndpoints(parts),
    ...jobEndpoints(parts),
    ...sourceEndpoints(parts),
    ...shadowEndpoints(parts),
    ...heldEndpoints(parts),
    ...listenEndpoints(parts),
    ...setupEndpoints(parts),
    ...[alerts.listed, alerts.silence, alerts.unsilence, alerts.test].map(endpoint),
    ...outageEndpoints(parts),
    ...sessionEndpoints(parts),
    ...tokenEndpoints(parts),
    ...accessEndpoints(parts),
  ];
}
