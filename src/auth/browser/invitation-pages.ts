import type { Reply } from "../../http/problem.ts";
import type { Person } from "../people/people.ts";
import { html, pageReply } from "./html.ts";
import { newPasskeyForm } from "./pages.ts";
import type { Texts } from "./texts.ts";

/** What the page of an invitation shows. */
interface InvitationPage {
  texts: Texts;
  person: Pick<Person, "email" | "displayName">;
  key: string;
  /** Whether the person may set a password. */
  hasPassword: boolean;
  /** Where a passkey can be made. Null where browsers allow none. */
  passkeys: { origin: string; script: string } | null;
  /** The way to the start page from the page: empty, or `../`. */
  root: string;
  /** Why the password, or the passkey, was refused. */
  error?: { of: "password" | "passkey"; text: string } | null;
}

/** The page of an invitation: a form for a passkey, which needs its script, and one for a password. */
export function invitationPage(status: number, invitation: InvitationPage, headers: Reply["headers"] = {}): Reply {
  const { texts, person, key, hasPassword, passkeys, root, error = null } = invitation;
  const words = texts.invitation;
  const { email, displayName } = person;
  const path = `${root}invite/passkey`;
  const invalid = error?.of === "password" ? html` aria-describedby="error" aria-invalid="true"` : null;
  const body = html`<h1>${words.title}</h1>
<p>${displayName === null ? null : html`<strong>${displayName}</strong><br>`}<strong>${email}</strong></p>
<p>${words.hint}</p>
${error === null ? null : html`<div class="note error" role="alert" id="error">${error.text}</div>\n`}${passkeys === null ? null : newPasskeyForm(texts, { origin: passkeys.origin, path, key, failed: words.passkeyFailed })}${
  hasPassword
    ? html`<form method="post" action="${root}invite">
<input type="hidden" name="key" value="${key}">
<label for="email">${texts.email}</label>
<input id="email" type="email" value="${email}" autocomplete="username" readonly>
<label for="password">${words.password}</label>
<input id="password" name="password" type="password" autocomplete="new-password" maxlength="1024" required${invalid}>
<button type="submit"${passkeys === null ? null : html` class="quiet"`}>${words.setPassword}</button>
</form>
`
    : null
}`;
  const script = passkeys === null ? {} : { script: passkeys.script, connects: true };
  return pageReply(status, { lang: texts.lang, title: words.title, body, ...script }, headers);
}

/** The page that tells that a link does not work, or that asks to open it in a browser. Nothing of it is secret. */
export function linkPage(status: number, texts: Texts, text: string): Reply {
  const body = html`<h1>${texts.invitation.title}</h1>
<p>${text}</p>`;
  return pageReply(status, { lang: texts.lang, title: texts.invitation.title, body });
}
