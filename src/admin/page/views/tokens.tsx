import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import type { CreatedToken, Token } from "../answers.ts";
import { Confirm } from "../components/confirm.tsx";
import { Heading } from "../components/heading.tsx";
import { shown } from "../components/states.tsx";
import { table } from "../components/table.tsx";
import { ago, until } from "../components/time.tsx";
import { readTokens, revokeToken } from "../endpoints.ts";
import { hashOf } from "../place.ts";
import { useResource } from "../resource.ts";
import { t } from "../texts/texts.ts";
import { createTokenDialog } from "./create-token-dialog.tsx";

/** The tokens of programs. */
export function Tokens(): VNode {
  const tokens = useResource("tokens", readTokens, 10_000);
  const isCreating = useSignal(false);
  const created = useSignal<CreatedToken | null>(null);
  const revoking = useSignal<Token | null>(null);
  const create = () => {
    isCreating.value = true;
  };
  return (
    <>
      <div class="bar">
        <Heading title={t.views.tokens} />
        <span class="actions">
          <a class="button" href={hashOf(["denied"])}>
            {t.views.denied}
          </a>
          <button type="button" onClick={create}>
            {t.tokens.create}
          </button>
        </span>
      </div>
      {created.value !== null && createdValue(created.value)}
      {shown(tokens, ({ items }) =>
        listOf(items, (token) => {
          revoking.value = token;
        }),
      )}
      {isCreating.value &&
        createTokenDialog({
          async onCreated(token) {
            created.value = token;
            await tokens.reload();
          },
          onClose() {
            isCreating.value = false;
          },
        })}
      {revoking.value !== null &&
        revokeDialog(revoking.value, {
          reload: tokens.reload,
          onClose() {
            revoking.value = null;
          },
        })}
    </>
  );
}

/** The value of a new token, which nobody can show again. */
const createdValue = ({ name, token }: CreatedToken) => (
  <div class="note" role="status">
    <p>
      <strong>{name}</strong>: {t.tokens.value}
    </p>
    <p>
      <code>{token}</code>
    </p>
  </div>
);

const listOf = (items: readonly Token[], revoke: (token: Token) => void) =>
  table({
    caption: t.views.tokens,
    rows: items,
    keyOf: ({ name }) => name,
    columns: [
      { label: t.tokens.name, isHeader: true, cell: ({ name }) => <code>{name}</code> },
      {
        label: t.tokens.scopes,
        cell: ({ scopes }) =>
          scopes.map((scope) => (
            <>
              <code key={scope}>{scope}</code>{" "}
            </>
          )),
      },
      { label: t.tokens.expires, cell: ({ expiresAt }) => (expiresAt === null ? t.never : until(expiresAt)) },
      {
        label: t.tokens.lastUsed,
        cell: ({ lastUsedAt, lastNetwork }) => (
          <>
            {ago(lastUsedAt)} {lastNetwork}
          </>
        ),
      },
      {
        label: t.tokens.revoke,
        cell: (token) => (
          <button type="button" class="quiet" onClick={() => revoke(token)}>
            {t.tokens.revoke}
            <span class="offscreen">: {token.name}</span>
          </button>
        ),
      },
    ],
  });

const revokeDialog = (
  { name }: Token,
  { reload, onClose }: { reload: () => Promise<void>; onClose: () => void },
): VNode => (
  <Confirm
    title={t.tokens.revokeTitle(name)}
    action={t.tokens.revoke}
    isDangerous
    onConfirm={async () => {
      await revokeToken(name);
      await reload();
    }}
    onClose={onClose}
  >
    <p>{t.tokens.revokeEffect}</p>
  </Confirm>
);
