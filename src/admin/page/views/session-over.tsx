import type { VNode } from "preact";
import { Heading } from "../components/heading.tsx";
import { keepPlace } from "../returning.ts";
import { t } from "../texts/texts.ts";

/** The session has ended: the way to a new one, and back to this place. */
export function sessionOver(why: "over" | "revoked"): VNode {
  const login = new URL("../login", document.baseURI);
  login.searchParams.set("rd", location.pathname);
  return (
    <main class="over">
      <Heading title={t.states.session[why]} />
      <p>{why === "over" ? t.states.session.overWhy : t.states.session.revokedWhy}</p>
      <p>
        <a class="button main" href={login.href} onClick={keepPlace}>
          {t.states.session.logIn}
        </a>
      </p>
    </main>
  );
}
