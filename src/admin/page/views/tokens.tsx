import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import type { CreatedToken, Token } from "../answers.ts";
import { type Choice, useChoice } from "../choice.ts";
import { Button } from "../components/button.tsx";
import { Confirm } from "../components/confirm.tsx";
import { Heading } from "../components/heading.tsx";
import { emptyState, shown } from "../components/states.tsx";
import { table } from "../components/table.tsx";
import { ago, until } from "../components/time.tsx";
import { readTokens, revokeToken } from "../requests.ts";
import { useResource } from "../resource.ts";
import { t } from "../texts/texts.ts";
import { createTokenDialog } from "./create-token-dialog.tsx";

/** The tokens of programs. */
export function Tokens(): VNode {
  const tokens = useResource("tokens", readTokens, 10_000);
  const creating = useChoice();
  const created = useSignal<CreatedToken | null>(null);
  const revoking = useChoice<Token>();
  const createButton = <Button label={t.tokens.create} onClick={creating.choose(true)} />;
  return (
    <>
      <Heading title={t.views.tokens}>{createButton}</Heading>
      {created.value !== null && createdValue(created.value)}
      <p class="soft">{t.tokens.intro}</p>
      {shown(tokens, ({ items }) =>
        items.length === 0
          ? emptyState(t.tokens.none, t.tokens.noneHint, createButton)
          : listOf(items, revoking.choose),
      )}
      {creating.value &&
        createTokenDialog({
          async onCreated(token) {
            created.value = token;
            await tokens.reload();
          },
          onClose: creating.close,
        })}
      {revoking.value && revokeDialog(revoking.value, { reload: tokens.reload, onClose: revoking.close })}
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

const listOf = (items: readonly Token[], revoke: Choice<Token>["choose"]) =>
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
        cell: (token) => <Button class="quiet" label={t.tokens.revoke} of={token.name} onClick={revoke(token)} />,
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
