import * as v from "valibot";
import type { Endpoint } from "../http/endpoint.ts";
import { isoTime } from "../lib/iso-time.ts";
import { type AdminGuard, changeEndpoint, readEndpoint } from "./endpoint.ts";
import { timestamp } from "./fields.ts";

export interface SessionParts extends AdminGuard {
  session: { userId: string; email: string; find(): Promise<SessionFound | null>; revoke(): Promise<boolean> };
}

interface SessionFound {
  sid: string;
  /** Unix milliseconds. */
  expiresAt: number;
  origin: { network: string; userAgent: string | null } | null;
}

export const SessionAnswer = v.object({
  userId: v.string(),
  email: v.string(),
  sid: v.nullable(v.string()),
  network: v.nullable(v.string()),
  userAgent: v.nullable(v.string()),
  expiresAt: v.nullable(timestamp),
});
const NoMembers = v.object({});
const RevokedAnswer = v.object({ revoked: v.boolean() });

/** The session of the logged-in user. */
export function sessionEndpoints(parts: SessionParts): Endpoint[] {
  return [
    readEndpoint(parts, {
      path: "/admin/api/session",
      scope: "events:read",
      summary: "Shows who is logged in, and from where.",
      response: SessionAnswer,
      async read() {
        const { userId, email, find } = parts.session;
        const { sid = null, expiresAt = null, origin } = (await find()) ?? {};
        const { network = null, userAgent = null } = origin ?? {};
        return { userId, email, sid, network, userAgent, expiresAt: isoTime(expiresAt) };
      },
    }),
    changeEndpoint(parts, {
      path: "/admin/api/session/revoke",
      scope: "session",
      summary: "Ends the session, also that of this request. The body is `{}`.",
      request: NoMembers,
      response: RevokedAnswer,
      audited: {
        action: "session.revoke",
        asked: () => ({ userId: parts.session.userId }),
        outcome: ({ revoked }) => (revoked ? {} : null),
      },
      change: async () => ({ revoked: await parts.session.revoke() }),
    }),
  ];
}
