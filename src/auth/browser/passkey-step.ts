import { AppError } from "../../errors.ts";
import { type RequestHandler, reply } from "../../http/endpoint.ts";
import { loginOptions, passkeysOf } from "../factors/passkeys.ts";
import { STEP_MS } from "../factors/steps.ts";
import { redirect } from "./html.ts";
import {
  type BrowserParts,
  loggedIn,
  type PasskeyParts,
  prefixOf,
  readOwnForm,
  requesterOf,
  targetOf,
} from "./visit.ts";

/** Marks the address of the login page after a passkey was refused. */
export const PASSKEY_REFUSED = "passkey-refused";

/**
 * The script of a login with a passkey. Null without a passkey that can be used. The page is shown without it in an
 * outage.
 */
export async function readPasskeyScript({
  passkeys,
  factors,
}: Pick<BrowserParts, "passkeys" | "factors">): Promise<string | null> {
  if (passkeys === null) return null;
  try {
    const { usable } = passkeysOf(await factors.list(), passkeys.site);
    return usable.length === 0 ? null : await passkeys.readScript();
  } catch {
    return null;
  }
}

/** Answers `GET /login/passkey` with a new challenge, which is bound to the browser by a cookie. */
export function passkeyOptionsHandler({ steps }: BrowserParts, passkeys: PasskeyParts): RequestHandler {
  return () => {
    const { site, challengeCookie } = passkeys;
    const { id, value } = steps.begin("passkey");
    const headers = { "Set-Cookie": challengeCookie.set(value, STEP_MS / 1000) };
    return { ...reply(200, loginOptions(site, id)), headers };
  };
}

/** Answers `POST /login/passkey`: logs in with what the browser has signed. */
export function passkeyFormHandler(parts: BrowserParts, passkeys: PasskeyParts): RequestHandler {
  return async (context) => {
    const { request } = context;
    const { login, challengeCookie } = passkeys;
    const fields = await readOwnForm(request, parts);
    const { url: target } = targetOf(fields.get("rd") ?? null, context, parts);
    const forget = challengeCookie.clear();
    try {
      const challenge = parts.steps.read("passkey", challengeCookie.read(request));
      const requester = await requesterOf(context, parts, fields);
      const { accessToken } = await login(fields.get("answer") ?? "", challenge, requester);
      return loggedIn(accessToken, target, request, requester, parts, [forget]);
    } catch (error) {
      if (!(error instanceof AppError) || error.code === "store_unavailable") throw error;
      const query = new URLSearchParams({ rd: target, [PASSKEY_REFUSED]: "1" });
      return redirect(`${prefixOf(request, parts)}/login?${query}`, { "Set-Cookie": forget });
    }
  };
}
