import type { IncomingMessage } from "node:http";
import { AppError } from "../../errors.ts";
import type { RequestHandler } from "../../http/endpoint.ts";
import type { Reply } from "../../http/problem.ts";
import { STEP_MS } from "../factors/steps.ts";
import type { Person } from "../people/people.ts";
import { redirect } from "./html.ts";
import { codePage } from "./pages.ts";
import { readPasskeyScript } from "./passkey-step.ts";
import { withRd } from "./redirect-target.ts";
import { textsFor } from "./texts.ts";
import {
  type BrowserParts,
  KEEP,
  keepIn,
  loggedIn,
  prefixOf,
  queryOf,
  readOwnForm,
  refusalOf,
  requesterOf,
  targetOf,
  toLogin,
} from "./visit.ts";

/** Begins the second step of a login whose password was right, and leads to its page. */
export function beginCodeStep(
  request: IncomingMessage,
  parts: BrowserParts,
  person: Person,
  target: string,
  fields: Map<string, string>,
): Reply {
  const { value } = parts.steps.begin("code", person);
  const headers = { "Set-Cookie": parts.stepCookie.set(value, STEP_MS / 1000) };
  const kept = keepIn(fields, parts) ? `&${KEEP}=1` : "";
  return redirect(`${withRd(`${prefixOf(request, parts)}/login/code`, target)}${kept}`, headers);
}

/** The step that a browser has begun. Null without one, or once all factors are removed. */
async function begunStep(
  { steps, stepCookie, factorsOf }: BrowserParts,
  request: IncomingMessage,
): Promise<ReturnType<BrowserParts["steps"]["read"]>> {
  const step = steps.read("code", stepCookie.read(request));
  if (step === null) return null;
  // In an outage the login itself tells of it.
  const isNeeded = await factorsOf(step.person)
    .list()
    .then(
      ({ length }) => length > 0,
      () => true,
    );
  return isNeeded ? step : null;
}

/** Answers `GET /login/code` with the page for the code, if this browser has sent the right password. */
export function codePageHandler(parts: BrowserParts): RequestHandler {
  return async (context) => {
    const { request } = context;
    const query = queryOf(request);
    const rd = query.get("rd");
    const step = await begunStep(parts, request);
    // With a live session too: a change of the account asks for another login.
    if (step === null) return toLogin(request, parts, rd);
    const texts = textsFor(request.headers["accept-language"]);
    const passkeyScript = await readPasskeyScript(parts);
    const { url: target } = targetOf(rd, context, parts);
    const keep = keepIn(query, parts);
    return codePage(200, { texts, target, origin: parts.rules.origin, passkeyScript, keep, app: parts.appAt(target) });
  };
}

/** Answers `POST /login/code`: finishes the login with the field `code`, and redirects to `rd`. */
export function codeFormHandler(parts: BrowserParts): RequestHandler {
  const { codeLogin, steps, stepCookie, rules } = parts;
  return async (context) => {
    const { request } = context;
    const fields = await readOwnForm(request, parts);
    const rd = fields.get("rd") ?? null;
    const step = await begunStep(parts, request);
    if (step === null) return toLogin(request, parts, rd);
    const texts = textsFor(request.headers["accept-language"]);
    const { url: target } = targetOf(rd, context, parts);
    try {
      const requester = await requesterOf(context, parts, fields);
      const { accessToken } = await codeLogin(step.person, fields.get("code") ?? "", requester, () =>
        steps.finish(step.id),
      );
      return loggedIn(accessToken, target, request, requester, parts, [stepCookie.clear()]);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const { status, text, headers } = refusalOf(error, texts);
      const passkeyScript = await readPasskeyScript(parts);
      const keep = keepIn(fields, parts);
      return codePage(
        status,
        { texts, target, origin: rules.origin, error: text, passkeyScript, keep, app: parts.appAt(target) },
        headers,
      );
    }
  };
}
