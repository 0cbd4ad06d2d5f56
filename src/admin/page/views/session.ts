import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import type { Session as SessionData } from "../answers.ts";
import { sessionEnd } from "../api.ts";
import { confirm } from "../components/confirm.ts";
import { heading } from "../components/heading.ts";
import { shown } from "../components/states.ts";
import { terms } from "../components/table.ts";
import { exactly } from "../components/time.ts";
import { readSession, revokeSession } from "../endpoints.ts";
import { html } from "../html.ts";
import { hashOf } from "../place.ts";
import { useResource } from "../resource.ts";
import { t } from "../texts/texts.ts";

/** Who is logged in, and the ways to end it. */
export function Session(): VNode {
  const session = useResource("session", readSession, 30_000);
  const isAsking = useSignal(false);
  const ask = (isOpen: boolean) => () => {
    isAsking.value = isOpen;
  };
  return html`${heading(t.views.session)}
    <p class="soft">${t.session.one}</p>
    <div class="actions"><a class="button" href=${hashOf(["audit"])}>${t.views.audit}</a></div>
    ${shown(session, (data) => html`<div class="card">${details(data)}</div>`)}
    <div class="cards choices">
      <div class="card"><p>${t.session.logOutEffect}</p>
        <form method="post" action=${new URL("../logout", document.baseURI).href}><button type="submit">${t.session.logOut}</button></form></div>
      <div class="card"><p>${t.session.revokeUse}</p><button type="button" class="quiet" onClick=${ask(true)}>${t.session.revoke}…</button></div>
    </div>
    ${isAsking.value && revokeDialog(ask(false))}`;
}

const details = ({ email, userId, network, userAgent, expiresAt, sid }: SessionData) =>
  terms([
    [t.session.user, email],
    [t.session.userId, html`<code>${userId}</code>`],
    [t.session.network, network ?? t.unknown],
    [t.session.browser, userAgent ?? t.unknown],
    [t.session.expires, expiresAt === null ? t.unknown : exactly(expiresAt)],
    [t.session.sid, html`<code>${sid ?? t.unknown}</code>`],
  ]);

const revokeDialog = (onClose: () => void) =>
  confirm({
    title: t.session.revokeTitle,
    children: html`<p>${t.session.revokeEffect}</p>`,
    action: t.session.revoke,
    isDangerous: true,
    async onConfirm() {
      await revokeSession();
      sessionEnd.value = "revoked";
    },
    onClose,
  });
