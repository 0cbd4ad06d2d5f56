import * as v from "valibot";
import { makeAudited } from "../../audit/change.ts";
import type { AuditAction } from "../../audit/store.ts";
import type { Endpoint, RequestContext, RequestHandler } from "../../http/endpoint.ts";
import type { Reply } from "../../http/problem.ts";
import { addFactor, factorName, renewRecoveryCodes, totpFactor } from "../factors/manage.ts";
import { passkeyUserOf, signalsOf } from "../factors/passkeys.ts";
import { qrSvg } from "../factors/qr-code.ts";
import { plainCode } from "../factors/recovery-codes.ts";
import { spendTotp } from "../factors/second-factors.ts";
import type { FactorStore, NewFactor } from "../factors/store.ts";
import { isTotpSecret, loadTotp } from "../factors/totp.ts";
import type { TokenStore } from "../machine-tokens/store.ts";
import { isTokenOf, isUnchanged, type Person } from "../people/people.ts";
import type { AccessClaims } from "../token.ts";
import { type Account, accountPage, recoveryCodesPage, totpPage } from "./account-pages.ts";
import { FORM, FORM_PROBLEMS, HTML, PAGE } from "./endpoints.ts";
import { redirect } from "./html.ts";
import { beginPasskey, readPasskey } from "./new-passkey.ts";
import { type Texts, textsFor } from "./texts.ts";
import {
  type BrowserParts,
  isFresh,
  type PasskeyParts,
  prefixOf,
  queryOf,
  readOwnForm,
  sessionOf,
  toLogin,
} from "./visit.ts";

/** What the pages of the account use. */
export interface AccountParts extends BrowserParts {
  tokens: Pick<TokenStore, "list">;
}

/** What changes have in common. Without a session they redirect to the login page, or if it is not recent. */
const CHANGE: Pick<Endpoint, "response" | "requestTypes" | "statuses" | "mediaTypes" | "problems"> = {
  response: v.string(),
  requestTypes: FORM,
  statuses: [200, 303, 400],
  mediaTypes: { 200: HTML, 400: HTML },
  problems: [...FORM_PROBLEMS, "store_unavailable"],
};

const Name = v.optional(v.string());

/** The pages on which the user sees the account, and changes second factors. */
export function accountEndpoints(parts: AccountParts): Endpoint[] {
  return [
    {
      method: "GET",
      path: "/account",
      summary: "Shows second factors, recovery codes that are left, tokens of programs and recent logins.",
      ...PAGE,
      handler: withSession(parts, (visit) => showAccount(parts, visit)),
    },
    {
      method: "POST",
      path: "/account/remove",
      auditAction: "factor.remove",
      summary: "Removes the second factor `id`. Changes under `/account` need a login of the last 5 minutes.",
      request: v.object({ id: v.string() }),
      ...CHANGE,
      handler: withFreshSession(parts, (visit) => removeFactor(parts, visit)),
    },
    {
      method: "POST",
      path: "/account/recovery-codes",
      auditAction: "factor.recovery_codes",
      summary: "Makes new recovery codes, and shows them this once.",
      request: v.object({}),
      ...CHANGE,
      handler: withFreshSession(parts, (visit) => renewCodes(parts, visit)),
    },
    {
      method: "GET",
      path: "/account/totp",
      summary: "Shows the QR code of a new authenticator app.",
      ...PAGE,
      handler: withFreshSession(parts, async (visit) => showTotp(parts, visit, (await loadTotp()).newSecret())),
    },
    {
      method: "POST",
      path: "/account/totp",
      auditAction: "factor.add",
      summary: "Adds an authenticator app with the form fields `secret`, `code` and `name`.",
      request: v.object({ secret: v.string(), code: v.string(), name: Name }),
      ...CHANGE,
      handler: withFreshSession(parts, (visit) => addTotp(parts, visit)),
    },
    ...(parts.passkeys === null ? [] : passkeyEndpoints(parts, parts.passkeys)),
  ];
}

/** Marks the address of what is needed for a passkey without a dialog. */
const CONDITIONAL = "conditional";

function passkeyEndpoints(parts: AccountParts, passkeys: PasskeyParts): Endpoint[] {
  return [
    {
      method: "GET",
      path: "/account/passkey",
      summary: "Returns what a browser needs for a new passkey, and keeps its challenge in a cookie for 5 minutes.",
      query: v.object({
        [CONDITIONAL]: v.optional(v.pipe(v.string(), v.description("The browser makes it without a dialog."))),
      }),
      response: v.objectWithRest(
        { challenge: v.string(), rp: v.object({ id: v.string(), name: v.string() }) },
        v.unknown(),
      ),
      statuses: [200, 303],
      otherType: "text/plain",
      problems: ["store_unavailable"],
      handler: withFreshSession(parts, ({ context, person }) =>
        beginPasskey(parts, passkeys, person, queryOf(context.request).has(CONDITIONAL)),
      ),
      quiet: true,
    },
    {
      method: "POST",
      path: "/account/passkey",
      auditAction: "factor.add",
      summary: "Adds a passkey with the form fields `answer`, what the browser has made as JSON, and `name`.",
      request: v.object({ answer: v.string(), name: Name }),
      ...CHANGE,
      handler: withFreshSession(parts, (visit) => addPasskey(parts, visit, passkeys)),
    },
  ];
}

/** A request of somebody with a live session. */
interface Visit {
  context: RequestContext;
  claims: AccessClaims;
  person: Person;
  /** The person's own, and no others. */
  factors: FactorStore;
  /** Whether the browser proves the device of the session. */
  isBound: boolean;
  texts: Texts;
}

/** Answers a request of somebody with a live session; others are sent to the login page. */
function withSession(parts: AccountParts, handle: (visit: Visit) => Promise<Reply>): RequestHandler {
  return async (context) => {
    const { request } = context;
    const { claims, person, isBound } = await sessionOf(request, parts);
    if (claims === null) return toLogin(request, parts, accountUrlOf(parts, context));
    const texts = textsFor(request.headers["accept-language"]);
    return handle({ context, claims, person, factors: parts.factorsOf(person), isBound, texts });
  };
}

/** Answers a request of somebody who has logged in a moment ago; others are asked to log in again. */
function withFreshSession(parts: AccountParts, handle: (visit: Visit) => Promise<Reply>): RequestHandler {
  return withSession(parts, async (visit) => {
    return isFresh(visit.claims, parts.now()) ? handle(visit) : redirect(loginUrlOf(parts, visit));
  });
}

/** The login page, which opens although a session lives and leads back. */
function loginUrlOf(parts: AccountParts, { context }: Visit): string {
  const query = new URLSearchParams({ again: "1", rd: accountUrlOf(parts, context) });
  return `${prefixOf(context.request, parts)}/login?${query}`;
}

const accountUrlOf = (parts: AccountParts, { request }: Pick<RequestContext, "request">) =>
  `${prefixOf(request, parts)}/account`;

/** The page of the account. `note` says why a change was refused. */
async function showAccount(parts: AccountParts, visit: Visit, note?: string): Promise<Reply> {
  const { claims, person, factors: store, texts } = visit;
  const { tokens, passkeys, appsIn, now } = parts;
  const [factors, recoveryCodesLeft, tokenRecords, logins, apps] = await Promise.all([
    store.list(),
    store.recoveryCodesLeft(),
    tokens.list(),
    store.logins(),
    appsIn(claims.sid),
  ]);
  return accountPage(note === undefined ? 200 : 400, {
    texts,
    email: claims.email,
    since: claims.iat === undefined ? null : claims.iat * 1000,
    until: claims.exp * 1000,
    sid: claims.sid,
    binding: bindingOf(parts, visit),
    factors,
    recoveryCodesLeft,
    tokens: tokenRecords.filter(({ name }) => isTokenOf(person, name)),
    logins,
    apps,
    site: passkeys?.site ?? null,
    signals: passkeys && signalsOf(factors, passkeys.site, passkeyUserOf(person)),
    root: note === undefined ? "" : "../",
    loginUrl: loginUrlOf(parts, visit),
    isFresh: isFresh(claims, now()),
    passkeyScript: passkeys && (await passkeys.readScript().catch(() => null)),
    note,
  });
}

/** What the session is as to its device. Null where sessions are not bound. */
function bindingOf({ device }: AccountParts, { isBound, context }: Visit): Account["binding"] {
  if (device === null) return null;
  if (isBound) return "yes";
  return device.unprovedCookie.read(context.request).length > 0 ? "unproved" : "no";
}

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
  // While the body came, somebody else may have got the id.
  if (!isUnchanged(parts.people, visit.person)) return redirect(loginUrlOf(parts, visit));
  const added = await makeChange(
    parts,
    visit,
    { action: "factor.add", detail: { id, kind, name } },
    () => addFactor(visit.factors, factor),
    (made) => (made === null ? null : {}),
  );
  if (added === null) return showAccount(parts, visit, visit.texts.account.notAdded);
  const { requestId, address } = visit.context;
  parts.log.info({ event: "factor_added", requestId, address, factor: id, kind, name }, "a second factor was added");
  if (added.recoveryCodes !== null) return recoveryCodesPage(visit.texts, added.recoveryCodes);
  return redirect(accountUrlOf(parts, visit.context));
}

/** Removes the factor `id` of the form. */
async function removeFactor(parts: AccountParts, visit: Visit): Promise<Reply> {
  const fields = await readOwnForm(visit.context.request, parts);
  const { requestId, address } = visit.context;
  const known = await visit.factors.list();
  const id = fields.get("id") ?? "";
  const removedIds = await makeChange(
    parts,
    visit,
    // What is not known may be any text.
    { action: "factor.remove", detail: { ids: known.flatMap((factor) => (factor.id === id ? [id] : [])) } },
    () => visit.factors.remove([id]),
    ({ length }) => (length === 0 ? null : {}),
  );
  for (const removed of removedIds) {
    const { kind, name } = known.find(({ id }) => id === removed) ?? {};
    const line = { event: "factor_removed" as const, requestId, address, factor: removed, kind, name };
    parts.log.info(line, "a second factor was removed");
  }
  return redirect(accountUrlOf(parts, visit.context));
}

/** Makes new recovery codes, and shows them. */
async function renewCodes(parts: AccountParts, visit: Visit): Promise<Reply> {
  await readOwnForm(visit.context.request, parts);
  const { requestId, address } = visit.context;
  if ((await visit.factors.list()).length === 0) return redirect(accountUrlOf(parts, visit.context));
  const codes = await makeChange(
    parts,
    visit,
    { action: "factor.recovery_codes", detail: {} },
    () => renewRecoveryCodes(visit.factors),
    ({ length }) => ({ codes: length }),
  );
  parts.log.info({ event: "recovery_codes_renewed", requestId, address }, "new recovery codes were made");
  return recoveryCodesPage(visit.texts, codes);
}

async function showTotp(
  { rules }: AccountParts,
  { texts, person }: Visit,
  secret: string,
  more: { name?: string; error?: string } = {},
): Promise<Reply> {
  const { uriOf } = await loadTotp();
  const qrCode = await qrSvg(uriOf(secret, new URL(rules.origin).hostname, person.email));
  return totpPage(more.error === undefined ? 200 : 400, {
    texts,
    secret,
    qrCode,
    name: texts.account.totpName,
    ...more,
  });
}

/** Adds an authenticator app whose code proves that it has the secret. */
async function addTotp(parts: AccountParts, visit: Visit): Promise<Reply> {
  const fields = await readOwnForm(visit.context.request, parts);
  const { stepOf, newSecret } = await loadTotp();
  const given = fields.get("secret") ?? "";
  const secret = isTotpSecret(given) ? given : newSecret();
  const words = visit.texts.account;
  const name = factorName(fields.get("name") ?? "", words.totpName);
  const code = plainCode(fields.get("code") ?? "");
  const at = parts.now();
  const step = stepOf(secret, code, at);
  if (step === null) return showTotp(parts, visit, secret, { name, error: words.totpWrong });
  const factor = totpFactor(secret, name, at);
  // The code that was typed here proves no login.
  await spendTotp(visit.factors, factor.id, step, at);
  return add(parts, visit, factor);
}

/** Adds the passkey that a browser has made. */
async function addPasskey(parts: AccountParts, visit: Visit, passkeys: PasskeyParts): Promise<Reply> {
  const { person } = visit;
  const fields = await readOwnForm(visit.context.request, parts);
  const words = visit.texts.account;
  const made = await readPasskey(parts, passkeys, person, visit.context, fields.get("answer") ?? "");
  if (made === null) return showAccount(parts, visit, words.passkeyFailed);
  const name = factorName(fields.get("name") ?? "", words.passkeyName);
  return add(parts, visit, { ...made, kind: "passkey", name, createdAt: parts.now() });
}
