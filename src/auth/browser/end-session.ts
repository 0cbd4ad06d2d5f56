import type { RequestHandler } from "../../http/endpoint.ts";
import { mayEndSession } from "../end-session.ts";
import { endSessionPage } from "./pages.ts";
import { textsFor } from "./texts.ts";
import { type BrowserParts, queryOf, readOwnForm, toLogin } from "./visit.ts";

/** What the link of an alert uses. */
export interface EndSessionParts extends BrowserParts {
  /** All secrets that may have signed a link. */
  secrets: readonly string[];
}

/** Answers `GET /login/end`, the link of an alert, with a button: a program that follows links ends nothing. */
export function endSessionPageHandler(parts: EndSessionParts): RequestHandler {
  return ({ request }) => {
    const query = queryOf(request);
    const [sid, key] = [query.get("sid") ?? "", query.get("key") ?? ""];
    if (!mayEndSession(parts.secrets, sid, key)) return toLogin(request, parts);
    return endSessionPage(textsFor(request.headers["accept-language"]), { sid, key });
  };
}

/** Answers `POST /login/end`: ends the session of the link, without a login. A later session stays. */
export function endSessionFormHandler(parts: EndSessionParts): RequestHandler {
  return async ({ request, requestId, address }) => {
    const { secrets, sessions, people, log } = parts;
    const fields = await readOwnForm(request, parts);
    const [sid, key] = [fields.get("sid") ?? "", fields.get("key") ?? ""];
    if (!mayEndSession(secrets, sid, key)) return toLogin(request, parts);
    for (const { id: userId } of people.list()) {
      if (!(await sessions.removeIf(userId, sid))) continue;
      const line = { event: "session_revoked" as const, requestId, address, userId, reason: "alert_link" };
      log.info(line, "session ended by the link of an alert");
    }
    return endSessionPage(textsFor(request.headers["accept-language"]), null);
  };
}
