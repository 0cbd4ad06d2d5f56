import type { VNode } from "preact";
import type { ClientApp, Session as SessionData } from "../answers.ts";
import { sessionEnd } from "../api.ts";
import { useChoice } from "../choice.ts";
import { Button } from "../components/button.tsx";
import { Confirm } from "../components/confirm.tsx";
import { Heading } from "../components/heading.tsx";
import { Section } from "../components/section.tsx";
import { shown } from "../components/states.tsx";
import { table, terms } from "../components/table.tsx";
import { exactly } from "../components/time.tsx";
import { readClients, readSession, retryLogouts, revokeSession } from "../requests.ts";
import { useResource } from "../resource.ts";
import { t } from "../texts/texts.ts";

/** Who is logged in, and the ways to end it. */
export function Session(): VNode {
  const session = useResource("session", readSession, 30_000);
  const clients = useResource("clients", readClients, 10_000);
  const revoking = useChoice();
  return (
    <>
      <Heading title={t.views.session} />
      <p class="soft">{t.session.one}</p>
      <div class="actions">
        <a class="button" href={new URL("../account", document.baseURI).href}>
          {t.session.account}
        </a>
      </div>
      {shown(session, (data) => (
        <div class="card">{details(data)}</div>
      ))}
      {shown(
        clients,
        ({ items }) =>
          items.length > 0 && (
            <Section title={t.session.apps}>
              <p class="soft">{t.session.appsHint}</p>
              {appsTable(items, (name) => async () => {
                await retryLogouts(name);
                await clients.reload();
              })}
            </Section>
          ),
      )}
      <div class="cards choices">
        <div class="card">
          <p>{t.session.logOutEffect}</p>
          <form method="post" action={new URL("../logout", document.baseURI).href}>
            <button type="submit">{t.session.logOut}</button>
          </form>
        </div>
        <div class="card">
          <p>{t.session.revokeUse}</p>
          <Button class="quiet" label={`${t.session.revoke}…`} onClick={revoking.choose(true)} />
        </div>
      </div>
      {revoking.value && revokeDialog(revoking.close)}
    </>
  );
}

const details = ({ email, userId, network, userAgent, expiresAt, sid }: SessionData) =>
  terms([
    [t.session.user, email],
    [t.session.userId, <code>{userId}</code>],
    [t.session.network, network ?? t.unknown],
    [t.session.browser, userAgent ?? t.unknown],
    [t.session.expires, expiresAt === null ? t.unknown : exactly(expiresAt)],
    [t.session.sid, <code>{sid ?? t.unknown}</code>],
  ]);

const appsTable = (items: readonly ClientApp[], retry: (name: string) => () => Promise<void>) =>
  table({
    caption: t.session.apps,
    rows: items,
    keyOf: ({ name }) => name,
    columns: [
      { label: t.session.app, isHeader: true, cell: ({ name }) => <code>{name}</code> },
      { label: t.session.takesPart, cell: ({ open }) => (open ? t.session.yes : "–") },
      { label: t.session.ends, cell: ({ ends }) => t.session.endsWhen[ends] },
      {
        label: t.session.notTold,
        cell: ({ name, waiting, failed, error }) => (
          <>
            {waiting + failed} {error}{" "}
            {failed > 0 && <Button class="quiet" label={t.session.tellAgain} of={name} onClick={retry(name)} />}
          </>
        ),
      },
    ],
  });

const revokeDialog = (onClose: () => void) => (
  <Confirm
    title={t.session.revokeTitle}
    action={t.session.revoke}
    isDangerous
    onConfirm={async () => {
      await revokeSession();
      sessionEnd.value = "revoked";
    }}
    onClose={onClose}
  >
    <p>{t.session.revokeEffect}</p>
  </Confirm>
);
