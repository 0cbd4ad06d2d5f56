import { AppError } from "../../errors.ts";
import { type RequestHandler, reply } from "../../http/endpoint.ts";
import { isAccepted, loginOptions, passkeysOf, removedPasskeyIn, signalsOf } from "../factors/passkeys.ts";
import { STEP_MS } from "../factors/steps.ts";
import type { AccessClaims } from "../token.ts";
import { redirect } from "./html.ts";
import type { HomePasskeys, UnknownPasskey } from "./pages.ts";
import {
  type BrowserParts,
  isFresh,
  loggedIn,
  type PasskeyParts,
  prefixOf,
  readOwnForm,
  requesterOf,
  targetOf,
} from "./visit.ts";

/** Marks the address of the login page after a passkey was refused. Its value is the id of one that was removed. */
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

/** What the login page tells about the passkey that it names as removed. Null if it can be used, or in an outage. */
export async function readUnknownPasskey(
  { passkeys, factors }: Pick<BrowserParts, "passkeys" | "factors">,
  id: string | null,
): Promise<UnknownPasskey | null> {
  if (passkeys === null || !id) return null;
  const { site, user } = passkeys;
  const known = await factors.list().catch(() => null);
  return known === null || isAccepted(id, signalsOf(known, site, user)) ? null : { rpId: site.rpId, unknown: id };
}

/** Reads what the page of a session does with passkeys. It is shown without them in an outage. */
export async function readHomePasskeys(
  { passkeys, factors, now }: Pick<BrowserParts, "passkeys" | "factors" | "now">,
  claims: AccessClaims,
): Promise<HomePasskeys | null> {
  if (passkeys === null) return null;
  const { site, user, readScript } = passkeys;
  try {
    const [known, script] = await Promise.all([factors.list(), readScript()]);
    // Without a passkey the login was one by password.
    const isOffered = passkeysOf(known, site).usable.length === 0 && isFresh(claims, now());
    const offer = isOffered ? (claims.iat ?? null) : null;
    return { script, signals: signalsOf(known, site, user), origin: site.origin, offer };
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
    const { login, challengeCookie, site, user } = passkeys;
    const fields = await readOwnForm(request, parts);
    const { url: target } = targetOf(fields.get("rd") ?? null, context, parts);
    const forget = challengeCookie.clear();
    const answer = fields.get("answer") ?? "";
    try {
      const challenge = parts.steps.read("passkey", challengeCookie.read(request));
      const requester = await requesterOf(context, parts, fields);
      const { accessToken } = await login(answer, challenge, requester);
      return loggedIn(accessToken, target, request, requester, parts, [forget]);
    } catch (error) {
      if (!(error instanceof AppError) || error.code === "store_unavailable") throw error;
      const removed =
        error.code === "invalid_passkey"
          ? await parts.factors.list().then(
              (known) => removedPasskeyIn(answer, signalsOf(known, site, user)),
              () => null,
            )
          : null;
      const query = new URLSearchParams({ rd: target, [PASSKEY_REFUSED]: removed ?? "" });
      return redirect(`${prefixOf(request, parts)}/login?${query}`, { "Set-Cookie": forget });
    }
  };
}
