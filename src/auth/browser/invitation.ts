import type { IncomingMessage } from "node:http";
import * as v from "valibot";
import { makeAudited } from "../../audit/change.ts";
import type { AuditAction } from "../../audit/store.ts";
import { AppError } from "../../errors.ts";
import type { Endpoint, RequestContext, RequestHandler } from "../../http/endpoint.ts";
import type { Reply } from "../../http/problem.ts";
import { isVeryCommon } from "../common-passwords.ts";
import { factorName } from "../factors/manage.ts";
import type { NewFactor } from "../factors/store.ts";
import { digestOfInvitationKey, newInvitationKey } from "../invitations.ts";
import { passwordFault } from "../password.ts";
import { isUnchanged, type Person } from "../people/people.ts";
import { INVITATION_MS, type PersonStore } from "../people/store.ts";
import type { Cookie } from "./cookie.ts";
import { FORM, FORM_PROBLEMS, HTML } from "./endpoints.ts";
import { redirect } from "./html.ts";
import { invitationPage, linkPage } from "./invitation-pages.ts";
import { beginPasskey, readPasskey } from "./new-passkey.ts";
import { withRd } from "./redirect-target.ts";
import { type Texts, textsFor } from "./texts.ts";
import { type BrowserParts, type PasskeyParts, prefixOf, queryOf, readOwnForm } from "./visit.ts";

/** What the links of `people invite` use. */
export interface InvitationParts {
  store: Pick<PersonStore, "openInvitation" | "useInvitation" | "setPassword">;
  /** Binds a link to the first browser that opens it. */
  invitationCookie: Cookie;
  /** Hashes a password. A limited number of these run at once. */
  hashPassword: (password: string) => Promise<string>;
}

type Parts = BrowserParts & InvitationParts;

const KeyQuery = v.object({ key: v.pipe(v.string(), v.description("That of the link.")) });

/** What the forms have in common. After them, the person logs in. */
const CHANGE: Pick<Endpoint, "response" | "requestTypes" | "statuses" | "mediaTypes" | "problems"> = {
  response: v.string(),
  requestTypes: FORM,
  statuses: [303, 400, 404],
  mediaTypes: { 400: HTML, 404: HTML },
  problems: [...FORM_PROBLEMS, "store_unavailable"],
};

/** The pages behind a link of `people invite`. */
export function invitationEndpoints(parts: Parts): Endpoint[] {
  return [
    {
      method: "GET",
      path: "/invite",
      summary:
        "Shows the page of a link of `people invite`. The first browser that opens it gets it, by a cookie. For any other one, and once it was used or has expired, the answer is 404. What only previews a page does not get it.",
      query: KeyQuery,
      response: v.string(),
      statuses: [200, 404, 503],
      mediaTypes: { 200: HTML, 404: HTML, 503: HTML },
      problems: ["store_unavailable"],
      handler: pageHandler(parts),
    },
    {
      method: "POST",
      path: "/invite",
      auditAction: "person.password",
      summary:
        "Sets the password of the person of the link, ends the person's session and the link, and redirects to the login page. A refused password is answered with the page, with 400, and the link still works.",
      request: v.object({ ...KeyQuery.entries, password: v.string() }),
      ...CHANGE,
      handler: passwordHandler(parts),
    },
    ...(parts.passkeys === null ? [] : passkeyEndpoints(parts, parts.passkeys)),
  ];
}

function passkeyEndpoints(parts: Parts, passkeys: PasskeyParts): Endpoint[] {
  return [
    {
      method: "GET",
      path: "/invite/passkey",
      summary: "Returns what the browser of the link needs for a new passkey of the person, as `GET /account/passkey`.",
      query: KeyQuery,
      response: v.objectWithRest(
        { challenge: v.string(), rp: v.object({ id: v.string(), name: v.string() }) },
        v.unknown(),
      ),
      problems: ["not_found", "store_unavailable"],
      handler: async ({ request }) => {
        const link = await linkOf(parts, request, queryOf(request).get("key") ?? "");
        if (link === null) throw new AppError("not_found");
        return beginPasskey(parts, passkeys, link.person);
      },
      quiet: true,
    },
    {
      method: "POST",
      path: "/invite/passkey",
      auditAction: "factor.add",
      summary:
        "Adds a passkey of the person of the link with the form fields `answer`, what the browser has made as JSON, and `name`. It ends the link, and redirects to the login page.",
      request: v.object({ ...KeyQuery.entries, answer: v.string(), name: v.optional(v.string()) }),
      ...CHANGE,
      handler: passkeyHandler(parts, passkeys),
    },
  ];
}

/**
 * What messengers, mail programs and search engines call themselves that fetch a link to show what is behind it. They
 * must not take a link that was sent to a person. Cubot makes phones.
 */
const PREVIEWS = /(?<!cu)bot|preview|crawl|spider|facebookexternalhit|whatsapp|slack|discord|telegram|skype/i;

const isPreview = ({ method, headers }: IncomingMessage) =>
  method === "HEAD" || PREVIEWS.test(headers["user-agent"] ?? "");

/** Whether a browser loads a page that the person has not asked for yet. It asks again if the answer is an error. */
const isPrefetch = ({ headers }: IncomingMessage) => String(headers["sec-purpose"] ?? "").startsWith("prefetch");

/** Answers `GET /invite`, and gives the link to this browser if no other one has it. */
function pageHandler(parts: Parts): RequestHandler {
  return async ({ request, requestId, address }) => {
    const texts = textsFor(request.headers["accept-language"]);
    if (isPrefetch(request) || isPreview(request))
      return linkPage(isPrefetch(request) ? 503 : 200, texts, texts.invitation.openInBrowser);
    const key = queryOf(request).get("key") ?? "";
    const browser = browserOf(request, parts) ?? newInvitationKey();
    const link = await openedBy(parts, key, browser);
    if (link === null) return closed(texts);
    const { person } = link;
    const userAgent = request.headers["user-agent"] ?? null;
    const line = { event: "invitation_opened" as const, requestId, address, person: person.name, userAgent };
    parts.log.info(line, `the invitation of ${person.name} was opened`);
    const cookie = parts.invitationCookie.set(browser, INVITATION_MS / 1000);
    return showInvitation(200, parts, { texts, person, key, root: "" }, { "Set-Cookie": cookie });
  };
}

/** The value of the cookie of the browser. Null without one. */
const browserOf = (request: IncomingMessage, { invitationCookie }: Parts): string | null =>
  invitationCookie.read(request).find((value) => digestOfInvitationKey(value) !== null) ?? null;

/** A link that a browser has. */
interface OpenedLink {
  person: Person;
  /** Uses it up. Returns false if that was done meanwhile. */
  use: () => Promise<boolean>;
}

/** The link with this key, if the browser with this value of the cookie has it, or gets it now. */
async function openedBy({ store, people, now }: Parts, key: string, browser: string): Promise<OpenedLink | null> {
  const [link, owner] = [digestOfInvitationKey(key), digestOfInvitationKey(browser)];
  if (link === null || owner === null) return null;
  const id = await store.openInvitation(link, owner, now());
  const person = id === null ? null : people.byId(id);
  return person && { person, use: async () => (await store.useInvitation(link, owner, now())) !== null };
}

/** The link with this key, if the browser of a request has it. */
async function linkOf(parts: Parts, request: IncomingMessage, key: string): Promise<OpenedLink | null> {
  const browser = browserOf(request, parts);
  return browser === null ? null : openedBy(parts, key, browser);
}

/** The same page whatever the reason: a stranger learns nothing of it. */
const closed = (texts: Texts): Reply => linkPage(404, texts, texts.invitation.closed);

interface Invitation {
  texts: Texts;
  person: Person;
  key: string;
  root: string;
  error?: { of: "password" | "passkey"; text: string };
}

/** The hash of the file decides: another password would be worth nothing. */
const maySetPassword = ({ passwordHash }: Person) => passwordHash === null;

async function showInvitation(
  status: number,
  { passkeys }: Parts,
  invitation: Invitation,
  headers: Reply["headers"] = {},
): Promise<Reply> {
  const script = passkeys && (await passkeys.readScript().catch(() => null));
  const origin = passkeys?.site.origin;
  const page = {
    ...invitation,
    hasPassword: maySetPassword(invitation.person),
    passkeys: script === null || origin === undefined ? null : { origin, script },
  };
  return invitationPage(status, page, headers);
}

/** Makes a change for the person of a link, and writes it to the audit. */
const makeChange = <Result>(
  { audit }: Parts,
  { address }: RequestContext,
  person: Person,
  { action, detail }: { action: AuditAction; detail: object },
  make: () => Promise<Result>,
  isMade: (result: Result) => boolean,
) =>
  makeAudited(audit, { who: `invitation:${person.name}`, origin: address, action, detail }, make, (result) =>
    isMade(result) ? {} : null,
  );

/**
 * Leads to the login page, and from there to the account. The cookie of a session goes: somebody else may have used the
 * browser.
 */
function leadToLogin(request: IncomingMessage, parts: Parts): Reply {
  const prefix = prefixOf(request, parts);
  return redirect(withRd(`${prefix}/login`, `${prefix}/account`), { "Set-Cookie": parts.cookie.clear() });
}

/** A form that the browser of a link has sent. */
interface SentForm extends OpenedLink {
  context: RequestContext;
  fields: Map<string, string>;
  /** What the page shows again if the form is refused. */
  page: Invitation;
}

/** Answers a form of the browser that has the link. `root` is the way from its path to that of the page. */
function withLink(parts: Parts, root: string, handle: (form: SentForm) => Promise<Reply>): RequestHandler {
  return async (context) => {
    const { request } = context;
    const fields = await readOwnForm(request, parts);
    const key = fields.get("key") ?? "";
    const texts = textsFor(request.headers["accept-language"]);
    const link = await linkOf(parts, request, key);
    if (link === null) return closed(texts);
    return handle({ ...link, context, fields, page: { texts, person: link.person, key, root } });
  };
}

/** Answers `POST /invite`. */
function passwordHandler(parts: Parts): RequestHandler {
  const { store, sessions, hashPassword, log } = parts;
  return withLink(parts, "", async ({ context, fields, person, use, page }) => {
    const { request, requestId, address } = context;
    const { texts } = page;
    if (!maySetPassword(person)) return showInvitation(400, parts, page);
    const password = fields.get("password") ?? "";
    const text = faultOf(password, texts);
    if (text !== null) return showInvitation(400, parts, { ...page, error: { of: "password", text } });
    const set = async () => {
      // First: otherwise each copy of the request would compute a hash.
      if (!(await use())) return false;
      const hash = await hashPassword(password);
      // Whoever has the id now may be another person.
      if (!isUnchanged(parts.people, person)) return false;
      // Before: it must not outlive the old password if something fails. Behind: a login may have been under way.
      const wasLive = await sessions.remove(person.id);
      const isSet = await store.setPassword(person.account, hash);
      if ((await sessions.remove(person.id)) || wasLive) {
        const line = { event: "session_revoked" as const, requestId, address, userId: person.id };
        log.info({ ...line, reason: "invitation" }, "session ended: the person has set another password");
      }
      return isSet;
    };
    const change = { action: "person.password" as const, detail: { person: person.name } };
    if (!(await makeChange(parts, context, person, change, set, Boolean))) return closed(texts);
    log.info({ event: "person_password_set", requestId, address, person: person.name }, "a password was set by a link");
    return leadToLogin(request, parts);
  });
}

/** Why a new password is refused, for the page. Null: it is not. */
function faultOf(password: string, { invitation: words }: Texts): string | null {
  if (passwordFault(password) !== null) return words.refused;
  return isVeryCommon(password) ? words.veryCommon : null;
}

/** Answers `POST /invite/passkey`. */
function passkeyHandler(parts: Parts, passkeys: PasskeyParts): RequestHandler {
  return withLink(parts, "../", async ({ context, fields, person, use, page }) => {
    const { request, requestId, address } = context;
    const { texts } = page;
    const made = await readPasskey(parts, passkeys, person, context, fields.get("answer") ?? "");
    const refused = { of: "passkey" as const, text: texts.invitation.passkeyFailed };
    if (made === null) return showInvitation(400, parts, { ...page, error: refused });
    const name = factorName(fields.get("name") ?? "", texts.account.passkeyName);
    const factor: NewFactor = { ...made, kind: "passkey", name, createdAt: parts.now() };
    const { id, kind } = factor;
    const change = { action: "factor.add" as const, detail: { id, kind, name } };
    const add = async () => {
      if (!isUnchanged(parts.people, person) || !(await use())) return "closed";
      return (await parts.factorsOf(person).add(factor)) ? "added" : "refused";
    };
    const outcome = await makeChange(parts, context, person, change, add, (result) => result === "added");
    if (outcome === "closed") return closed(texts);
    if (outcome === "refused") return linkPage(400, texts, texts.account.notAdded);
    parts.log.info({ event: "factor_added", requestId, address, factor: id, kind, name }, "a second factor was added");
    return leadToLogin(request, parts);
  });
}
