import { AppError } from "../../errors.ts";
import { readJson } from "../../http/body.ts";
import { type RequestHandler, reply } from "../../http/endpoint.ts";
import { isoTime } from "../../lib/iso-time.ts";
import { type AdminParts, guarded } from "../endpoints.ts";
import { NoMembers, RouteBody, SilenceBody, UnsilenceBody } from "../schemas.ts";

const BODY_LIMIT = 16 * 1024;

/** Answers `POST /admin/api/routes/pause` and `resume`. */
export function pauseEndpoint(parts: AdminParts, action: "pause" | "resume"): RequestHandler {
  return guarded(parts, async ({ request }) => {
    const { route } = await readJson(request, RouteBody, BODY_LIMIT);
    if (!(await parts.readRoutes()).some(({ name }) => name === route)) throw new AppError("not_found");
    const { events, now } = parts;
    return reply(200, {
      changed: await (action === "pause" ? events.pauseRoute(route, now()) : events.resumeRoute(route)),
    });
  });
}

/** Answers `POST /admin/api/alerts/silence`: keeps an alert from being sent for a while. */
export function silenceEndpoint(parts: AdminParts): RequestHandler {
  return guarded(parts, async ({ request }) => {
    const { name = null, labels = {}, reason = null, forMs } = await readJson(request, SilenceBody, BODY_LIMIT);
    const until = parts.now() + forMs;
    if (!(await parts.alerts.silence({ name, labels, reason, until }))) throw unknownAlert();
    return reply(200, { until: isoTime(until) });
  });
}

/** Answers `POST /admin/api/alerts/unsilence`: ends the silences of an alert, or all. */
export function unsilenceEndpoint(parts: AdminParts): RequestHandler {
  return guarded(parts, async ({ request }) => {
    const { name = null } = await readJson(request, UnsilenceBody, BODY_LIMIT);
    return reply(200, { removed: await parts.alerts.unsilence(name) });
  });
}

const unknownAlert = () =>
  new AppError("validation_failed", { errors: [{ path: "name", message: "must be the name of an alert" }] });

/** Answers `GET /admin/api/session`: who is logged in, and from where. */
export function sessionEndpoint(parts: AdminParts): RequestHandler {
  return guarded(parts, async () => {
    const { userId, email, find } = parts.session;
    const record = await find();
    const { network = null, userAgent = null } = record?.origin ?? {};
    return reply(200, {
      userId,
      email,
      sid: record?.sid ?? null,
      network,
      userAgent,
      expiresAt: isoTime(record?.expiresAt ?? null),
    });
  });
}

/** Answers `POST /admin/api/session/revoke`: ends the session, also that of this request. */
export function revokeEndpoint(parts: AdminParts): RequestHandler {
  return guarded(parts, async ({ request }) => {
    await readJson(request, NoMembers, BODY_LIMIT);
    return reply(200, { revoked: await parts.session.revoke() });
  });
}
