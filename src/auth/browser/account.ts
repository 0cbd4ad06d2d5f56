import { makeAudited } from "../../audit/change.ts";
import type { AuditAction } from "../../audit/store.ts";
import type { RequestContext, RequestHandler } from "../../http/endpoint.ts";
import { reply } from "../../http/endpoint.ts";
import { readForm } from "../../http/fields.ts";
import type { Reply } from "../../http/problem.ts";
import { addFactor, factorName, renewRecoveryCodes, totpFactor } from "../factors/manage.ts";
import { newPasskey, passkeysOf, registrationOptions } from "../factors/passkeys.ts";
import { qrSvg } from "../factors/qr-code.ts";
import { plainCode } from "../factors/recovery-codes.ts";
import { spendTotp } from "../factors/second-factors.ts";
import { STEP_MS } from "../factors/steps.ts";
import type { NewFactor } from "../factors/store.ts";
import { isTotpSecret, loadTotp } from "../factors/totp.ts";
import type { TokenStore } from "../machine-tokens/store.ts";
import type { AccessClaims } from "../token.ts";
import type { User } from "../user.ts";
import { accountPage, recoveryCodesPage, totpPage } from "./account-pages.ts";
import { accountTexts } from "./account-texts.ts";
import { requireSameSite } from "./guard.ts";
import { redirect } from "./html.ts";
import { type Texts, textsFor } from "./texts.ts";
import { type BrowserParts, FORM_LIMIT, type PasskeyParts, prefixOf, sessionOf } from "./visit.ts";

/** What the pages of the account use. */
export interface AccountParts extends BrowserParts {
  user: User;
  tokens: Pick<TokenStore, "list">;
}

/** A request of somebody with a live session. */
interface Visit {
  context: RequestContext;
  claims: AccessClaims;
  texts: Texts;
}

/** A change of second factors needs a login within this time. */
const FRESH_MS = 5 * 60_000;

const isFresh = ({ iat = 0 }: AccessClaims, now: number) => iat * 1000 > now - FRESH_MS;

/** Answers a request of somebody with a live session; others are sent to the login page. */
function withSession(parts: AccountParts, handle: (visit: Visit) => Promise<Reply>): RequestHandler {
  const { authenticate, cookie, rules, trustedProxies } = parts;
  return async (context) => {
    const { request } = context;
    const { claims } = await sessionOf(request, cookie, authenticate);
    const prefix = prefixOf(request, trustedProxies, rules);
    if (claims === null) return redirect(`${prefix}/login?rd=${encodeURIComponent(`${prefix}/account`)}`);
    return handle({ context, claims, texts: textsFor(request.headers["accept-language"]) });
  };
}

/** Answers a request of somebody who has logged in a moment ago; others are asked to log in again. */
function withFreshSession(parts: AccountParts, handle: (visit: Visit) => Promise<Reply>): RequestHandler {
  return withSession(parts, async (visit) => {
    return isFresh(visit.claims, parts.now()) ? handle(visit) : redirect(loginUrlOf(parts, visit));
  });
}

/** The login page, which opens although a session lives and leads back. */
function loginUrlOf({ trustedProxies, rules }: AccountParts, { context: { request } }: Visit): string {
  const prefix = prefixOf(request, trustedProxies, rules);
  return `${prefix}/login?${new URLSearchParams({ again: "1", rd: `${prefix}/account` })}`;
}

/** Reads the form of a change, which no other site may send. */
async function readChange({ context: { request } }: Visit, { rules }: AccountParts): Promise<Map<string, string>> {
  requireSameSite(request, [], rules.origin);
  return readForm(request, FORM_LIMIT);
}

/** The page of the account. `note` says why a change was refused. */
async function showAccount(parts: AccountParts, visit: Visit, note?: string): Promise<Reply> {
  const { claims, texts } = visit;
  const { factors: store, tokens, passkeys, now } = parts;
  const [factors, recoveryCodesLeft, tokenRecords, logins] = await Promise.all([
    store.list(),
    store.recoveryCodesLeft(),
    tokens.list(),
    store.logins(),
  ]);
  return accountPage(note === undefined ? 200 : 400, {
    texts,
    email: claims.email,
    since: claims.iat === undefined ? null : claims.iat * 1000,
    until: claims.exp * 1000,
    sid: claims.sid,
    factors,
    recoveryCodesLeft,
    tokens: tokenRecords,
    logins,
    site: passkeys?.site ?? null,
    root: note === undefined ? "" : "../",
    loginUrl: loginUrlOf(parts, visit),
    isFresh: isFresh(claims, now()),
    passkeyScript: passkeys && (await passkeys.readScript().catch(() => null)),
    note,
  });
}

/** Answers `GET /account`. */
export const accountHandler = (parts: AccountParts) => withSession(parts, (visit) => showAccount(parts, visit));

/** Makes a change for the user of a session, and writes it to the audit. */
const makeChange = <Result>(
  parts: AccountParts,
  { claims, context }: Visit,
  { action, detail }: { action: AuditAction; detail: object },
  make: () => Promise<Result>,
  outcome: (result: Result) => object | null,
) => makeAudited(parts.audit, { who: `session:${claims.sub}`, origin: context.address, action, detail }, make, outcome);

/** Adds a factor, and shows the recovery codes if it is the first one. */
async function add(parts: AccountParts, visit: Visit, factor: NewFactor): Promise<Reply> {
  const { id, kind, name } = factor;
  const added = await makeChange(
    parts,
    visit,
    { action: "factor.add", detail: { id, kind, name } },
    () => addFactor(parts.factors, factor),
    (made) => (made === null ? null : {}),
  );
  if (added === null) return showAccount(parts, visit, accountTexts(visit.texts).notAdded);
  const { requestId, address, request } = visit.context;
  parts.log.info({ event: "factor_added", requestId, address, factor: id, kind, name }, "a second factor was added");
  if (added.recoveryCodes !== null) return recoveryCodesPage(visit.texts, added.recoveryCodes);
  return redirect(`${prefixOf(request, parts.trustedProxies, parts.rules)}/account`);
}

/** Answers `POST /account/remove`: removes the factor `id`. */
export const removeFactorHandler = (parts: AccountParts) =>
  withFreshSession(parts, async (visit) => {
    const fields = await readChange(visit, parts);
    const { requestId, address, request } = visit.context;
    const known = await parts.factors.list();
    const id = fields.get("id") ?? "";
    const removedIds = await makeChange(
      parts,
      visit,
      // What is not known may be any text.
      { action: "factor.remove", detail: { ids: known.flatMap((factor) => (factor.id === id ? [id] : [])) } },
      () => parts.factors.remove([id]),
      ({ length }) => (length === 0 ? null : {}),
    );
    for (const removed of removedIds) {
      const { kind, name } = known.find(({ id }) => id === removed) ?? {};
      const line = { event: "factor_removed" as const, requestId, address, factor: removed, kind, name };
      parts.log.info(line, "a second factor was removed");
    }
    return redirect(`${prefixOf(request, parts.trustedProxies, parts.rules)}/account`);
  });

/** Answers `POST /account/recovery-codes`: makes new recovery codes, and shows them. */
export const recoveryCodesHandler = (parts: AccountParts) =>
  withFreshSession(parts, async (visit) => {
    await readChange(visit, parts);
    const { requestId, address, request } = visit.context;
    if ((await parts.factors.list()).length === 0)
      return redirect(`${prefixOf(request, parts.trustedProxies, parts.rules)}/account`);
    const codes = await makeChange(
      parts,
      visit,
      { action: "factor.recovery_codes", detail: {} },
      () => renewRecoveryCodes(parts.factors),
      ({ length }) => ({ codes: length }),
    );
    parts.log.info({ event: "recovery_codes_renewed", requestId, address }, "new recovery codes were made");
    return recoveryCodesPage(visit.texts, codes);
  });

async function showTotp(
  { rules, user }: AccountParts,
  { texts }: Visit,
  secret: string,
  more: { name?: string; error?: string } = {},
): Promise<Reply> {
  const { uriOf } = await loadTotp();
  const qrCode = await qrSvg(uriOf(secret, new URL(rules.origin).hostname, user.email));
  return totpPage(more.error === undefined ? 200 : 400, {
    texts,
    secret,
    qrCode,
    name: accountTexts(texts).totpName,
    ...more,
  });
}

/** Answers `GET /account/totp` with a new secret. */
export const newTotpHandler = (parts: AccountParts) =>
  withFreshSession(parts, async (visit) => showTotp(parts, visit, (await loadTotp()).newSecret()));

/** Answers `POST /account/totp`: adds an authenticator app whose code proves that it has the secret. */
export const totpFormHandler = (parts: AccountParts) =>
  withFreshSession(parts, async (visit) => {
    const fields = await readChange(visit, parts);
    const { stepOf, newSecret } = await loadTotp();
    const given = fields.get("secret") ?? "";
    const secret = isTotpSecret(given) ? given : newSecret();
    const words = accountTexts(visit.texts);
    const name = factorName(fields.get("name") ?? "", words.totpName);
    const code = plainCode(fields.get("code") ?? "");
    const at = parts.now();
    const step = stepOf(secret, code, at);
    if (step === null) return showTotp(parts, visit, secret, { name, error: words.totpWrong });
    const factor = totpFactor(secret, name, at);
    // The code that was typed here proves no login.
    await spendTotp(parts.factors, factor.id, step, at);
    return add(parts, visit, factor);
  });

/** Answers `GET /account/passkey` with what a browser needs for a new passkey. */
export const newPasskeyHandler = (parts: AccountParts, passkeys: PasskeyParts) =>
  withFreshSession(parts, async () => {
    const { site, challengeCookie } = passkeys;
    const { id, value } = parts.steps.begin("new-passkey");
    const { usable } = passkeysOf(await parts.factors.list(), site);
    const options = await registrationOptions(site, id, parts.user, usable);
    return { ...reply(200, options), headers: { "Set-Cookie": challengeCookie.set(value, STEP_MS / 1000) } };
  });

/** Answers `POST /account/passkey`: adds the passkey that a browser has made. */
export const passkeyAddHandler = (parts: AccountParts, passkeys: PasskeyParts) =>
  withFreshSession(parts, async (visit) => {
    const { site, challengeCookie } = passkeys;
    const fields = await readChange(visit, parts);
    const { request, requestId, address } = visit.context;
    const words = accountTexts(visit.texts);
    const challenge = parts.steps.read("new-passkey", challengeCookie.read(request));
    const made =
      challenge === null || !(await parts.steps.finish(challenge))
        ? { fault: "this browser has no challenge, or it has expired or was used" }
        : await newPasskey(fields.get("answer") ?? "", site, challenge, parts.user.id);
    if ("fault" in made) {
      const line = { event: "passkey_refused" as const, requestId, address, reason: made.fault };
      parts.log.warn(line, `a new passkey was refused: ${made.fault}`);
      return showAccount(parts, visit, words.passkeyFailed);
    }
    const name = factorName(fields.get("name") ?? "", words.passkeyName);
    return add(parts, visit, { ...made, kind: "passkey", name, createdAt: parts.now() });
  });
