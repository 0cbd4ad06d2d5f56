import { AppError } from "../../errors.ts";
import type { RequestContext, RequestHandler } from "../../http/endpoint.ts";
import { readForm } from "../../http/fields.ts";
import type { Reply } from "../../http/problem.ts";
import { STEP_MS } from "../factors/steps.ts";
import { requireSameSite } from "./guard.ts";
import { redirect } from "./html.ts";
import { codePage } from "./pages.ts";
import { readPasskeyScript } from "./passkey-step.ts";
import { textsFor } from "./texts.ts";
import {
  type BrowserParts,
  FORM_LIMIT,
  loggedIn,
  prefixOf,
  queryOf,
  refusalOf,
  requesterOf,
  targetOf,
} from "./visit.ts";

/** Begins the second step of a login whose password was right, and leads to its page. */
export function beginCodeStep({ steps, stepCookie }: BrowserParts, prefix: string, target: string): Reply {
  const { value } = steps.begin("code");
  const headers = { "Set-Cookie": stepCookie.set(value, STEP_MS / 1000) };
  return redirect(`${prefix}/login/code?rd=${encodeURIComponent(target)}`, headers);
}

/** The login page, where everything begins anew. */
const toLogin = (prefix: string, rd: string | null) =>
  redirect(`${prefix}/login${rd === null ? "" : `?rd=${encodeURIComponent(rd)}`}`);

/** The step that a browser has begun. Null without one, or once all factors are removed. */
async function begunStep(
  { steps, stepCookie, factors }: BrowserParts,
  request: RequestContext["request"],
): Promise<string | null> {
  const step = steps.read("code", stepCookie.read(request));
  if (step === null) return null;
  // In an outage the login itself tells of it.
  const isNeeded = await factors.list().then(
    ({ length }) => length > 0,
    () => true,
  );
  return isNeeded ? step : null;
}

/** Answers `GET /login/code` with the page for the code, if this browser has sent the right password. */
export function codePageHandler(parts: BrowserParts): RequestHandler {
  const { rules, trustedProxies } = parts;
  return async (context) => {
    const { request } = context;
    const rd = queryOf(request).get("rd");
    const step = await begunStep(parts, request);
    // With a live session too: a change of the account asks for another login.
    if (step === null) return toLogin(prefixOf(request, trustedProxies, rules), rd);
    const texts = textsFor(request.headers["accept-language"]);
    const passkeyScript = await readPasskeyScript(parts);
    return codePage(200, { texts, target: targetOf(rd, context, parts).url, origin: rules.origin, passkeyScript });
  };
}

/** Answers `POST /login/code`: finishes the login with the field `code`, and redirects to `rd`. */
export function codeFormHandler(parts: BrowserParts): RequestHandler {
  const { codeLogin, steps, stepCookie, rules, trustedProxies } = parts;
  return async (context) => {
    const { request } = context;
    requireSameSite(request, [], rules.origin);
    const fields = await readForm(request, FORM_LIMIT);
    const rd = fields.get("rd") ?? null;
    const step = await begunStep(parts, request);
    if (step === null) return toLogin(prefixOf(request, trustedProxies, rules), rd);
    const texts = textsFor(request.headers["accept-language"]);
    const { url: target } = targetOf(rd, context, parts);
    try {
      const requester = await requesterOf(context, parts);
      const { accessToken } = await codeLogin(fields.get("code") ?? "", requester, () => steps.finish(step));
      return loggedIn(accessToken, target, requester, parts, [stepCookie.clear()]);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const { status, text, headers } = refusalOf(error, texts);
      const passkeyScript = await readPasskeyScript(parts);
      return codePage(status, { texts, target, origin: rules.origin, error: text, passkeyScript }, headers);
    }
  };
}
