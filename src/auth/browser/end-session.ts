import type { RequestHandler } from "../../http/endpoint.ts";
import { readForm } from "../../http/fields.ts";
import { mayEndSession } from "../end-session.ts";
import type { User } from "../user.ts";
import { requireSameSite } from "./guard.ts";
import { redirect } from "./html.ts";
import { endSessionPage } from "./pages.ts";
import { textsFor } from "./texts.ts";
import { type BrowserParts, FORM_LIMIT, queryOf, toLogin } from "./visit.ts";

/** What the link of an alert uses. */
export interface EndSessionParts extends BrowserParts {
  user: User;
  /** All secrets that may have signed a link. */
  secrets: readonly string[];
}

/** Answers `GET /login/end`, the link of an alert, with a button: a program that follows links ends nothing. */
export function endSessionPageHandler(parts: EndSessionParts): RequestHandler {
  return ({ request }) => {
    const { secrets, rules, trustedProxies } = parts;
    const query = queryOf(request);
    const [sid, key] = [query.get("sid") ?? "", query.get("key") ?? ""];
    if (!mayEndSession(secrets, sid, key)) return redirect(toLogin(request, { trustedProxies, rules }));
    return endSessionPage(textsFor(request.headers["accept-language"]), { sid, key });
  };
}

/** Answers `POST /login/end`: ends the session of the link, without a login. A later session stays. */
export function endSessionFormHandler(parts: EndSessionParts): RequestHandler {
  return async ({ request, requestId, address }) => {
    const { secrets, sessions, user, rules, trustedProxies, log } = parts;
    requireSameSite(request, [], rules.origin);
    const fields = await readForm(request, FORM_LIMIT);
    const [sid, key] = [fields.get("sid") ?? "", fields.get("key") ?? ""];
    if (!mayEndSession(secrets, sid, key)) return redirect(toLogin(request, { trustedProxies, rules }));
    if (await sessions.removeIf(user.id, sid)) {
      const line = { event: "session_revoked" as const, requestId, address, userId: user.id, reason: "alert_link" };
      log.info(line, "session ended by the link of an alert");
    }
    return endSessionPage(textsFor(request.headers["accept-language"]), null);
  };
}
