import type { VNode } from "preact";
import { heading } from "../components/heading.ts";
import { html } from "../html.ts";
import { keepPlace } from "../returning.ts";
import { t } from "../texts/texts.ts";

/** The session has ended: the way to a new one, and back to this place. */
export function sessionOver(why: "over" | "revoked"): VNode {
  const login = new URL("../login", document.baseURI);
  login.searchParams.set("rd", location.pathname);
  return html`<main class="over">
    ${heading(t.states.session[why])}
    <p>${why === "over" ? t.states.session.overWhy : t.states.session.revokedWhy}</p>
    <p><a class="button main" href=${login.href} onClick=${keepPlace}>${t.states.session.logIn}</a></p>
  </main>`;
}
