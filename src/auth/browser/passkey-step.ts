import { AppError } from "../../errors.ts";
import { type RequestHandler, reply } from "../../http/endpoint.ts";
import type { LiveSession } from "../authenticate.ts";
import {
  isAccepted,
  loginOptions,
  type PasskeySignals,
  passkeysOf,
  passkeyUserOf,
  removedPasskeyIn,
  signalsOf,
} from "../factors/passkeys.ts";
import { STEP_MS } from "../factors/steps.ts";
import type { Person } from "../people/people.ts";
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
  listFactors,
}: Pick<BrowserParts, "passkeys" | "listFactors">): Promise<string | null> {
  if (passkeys === null) return null;
  try {
    const { usable } = passkeysOf(await listFactors(), passkeys.site);
    return usable.length === 0 ? null : await passkeys.readScript();
  } catch {
    return null;
  }
}

/** What the login page tells about the passkey that it names as removed. Null if it can be used, or in an outage. */
export async function readUnknownPasskey(
  parts: Pick<BrowserParts, "passkeys" | "people" | "listFactors">,
  id: string | null,
): Promise<UnknownPasskey | null> {
  if (parts.passkeys === null || !id) return null;
  const known = await signalsOfAll(parts, parts.passkeys).catch(() => null);
  const isUnknown = known !== null && !known.some((signals) => isAccepted(id, signals));
  return isUnknown ? { rpId: parts.passkeys.site.rpId, unknown: id } : null;
}

/** What there is to tell of the passkeys of each person. */
async function signalsOfAll(
  { people, listFactors }: Pick<BrowserParts, "people" | "listFactors">,
  { site }: PasskeyParts,
): Promise<PasskeySignals[]> {
  const known = await listFactors();
  const ownOf = ({ account }: Person) => known.filter((factor) => factor.account === account);
  return people.list().map((person) => signalsOf(ownOf(person), site, passkeyUserOf(person)));
}

/** Reads what the page of a session does with passkeys. It is shown without them in an outage. */
export async function readHomePasskeys(
  { passkeys, factorsOf, now }: Pick<BrowserParts, "passkeys" | "factorsOf" | "now">,
  { claims, person }: Pick<LiveSession, "claims" | "person">,
): Promise<HomePasskeys | null> {
  if (passkeys === null) return null;
  const { site, readScript } = passkeys;
  try {
    const [known, script] = await Promise.all([factorsOf(person).list(), readScript()]);
    // Without a passkey the login was one by password.
    const isOffered = passkeysOf(known, site).usable.length === 0 && isFresh(claims, now());
    const offer = isOffered ? (claims.iat ?? null) : null;
    return { script, signals: signalsOf(known, site, passkeyUserOf(person)), origin: site.origin, offer };
  } catch {
    return null;
  }
}

/** Whose credential signs the challenge of a login, before it is known who logs in. */
const anybody = (people: BrowserParts["people"]) => people.list()[0] as Person;

/** Answers `GET /login/passkey` with a new challenge, which is bound to the browser by a cookie. */
export function passkeyOptionsHandler({ steps, people }: BrowserParts, passkeys: PasskeyParts): RequestHandler {
  return () => {
    const { site, challengeCookie } = passkeys;
    const { id, value } = steps.begin("passkey", anybody(people));
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
    const answer = fields.get("answer") ?? "";
    try {
      const step = parts.steps.read("passkey", challengeCookie.read(request), [anybody(parts.people)]);
      const requester = await requesterOf(context, parts, fields);
      const { accessToken } = await login(answer, step?.id ?? null, requester);
      return loggedIn(accessToken, target, request, requester, parts, [forget]);
    } catch (error) {
      if (!(error instanceof AppError) || error.code === "store_unavailable") throw error;
      const removed =
        error.code === "invalid_passkey"
          ? await signalsOfAll(parts, passkeys).then(
              (known) => known.map((signals) => removedPasskeyIn(answer, signals)).find((id) => id !== null),
              () => null,
            )
          : null;
      const query = new URLSearchParams({ rd: target, [PASSKEY_REFUSED]: removed ?? "" });
      return redirect(`${prefixOf(request, parts)}/login?${query}`, { "Set-Cookie": forget });
    }
  };
}
