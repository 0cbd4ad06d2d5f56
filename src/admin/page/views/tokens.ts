import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import type { CreatedToken, Token } from "../answers.ts";
import { announce } from "../components/announcer.ts";
import { badge } from "../components/badge.ts";
import { confirm } from "../components/confirm.ts";
import { copyButton } from "../components/copy-button.ts";
import { heading } from "../components/heading.ts";
import { emptyState, shown } from "../components/states.ts";
import { table } from "../components/table.ts";
import { ago, until } from "../components/time.ts";
import { readTokens, revokeToken } from "../endpoints.ts";
import { html } from "../html.ts";
import { now } from "../live.ts";
import { useResource } from "../resource.ts";
import { t } from "../texts/texts.ts";
import { createTokenDialog } from "./create-token-dialog.ts";
import { denials } from "./denials.ts";

const SOON_MS = 7 * 86_400_000;

/** The tokens of programs, and what forward-auth has denied. */
export function Tokens(): VNode {
  const tokens = useResource("tokens", readTokens, 10_000);
  const isCreating = useSignal(false);
  const created = useSignal<CreatedToken | null>(null);
  const revoking = useSignal<Token | null>(null);
  return html`${heading(t.views.tokens)}
    <p class="soft">${t.tokens.what}</p>
    <div class="actions"><button type="button" onClick=${() => {
      isCreating.value = true;
    }}>${t.tokens.create}</button></div>
    ${created.value !== null && createdValue(created.value)}
    ${shown(tokens, ({ items }) =>
      items.length === 0
        ? emptyState(t.tokens.empty)
        : listOf(items, (token) => {
            revoking.value = token;
          }),
    )}
    ${denials()}
    ${
      isCreating.value &&
      createTokenDialog({
        async onCreated(token) {
          created.value = token;
          await tokens.reload();
        },
        onClose() {
          isCreating.value = false;
        },
      })
    }
    ${
      revoking.value !== null &&
      revokeDialog(revoking.value, {
        reload: tokens.reload,
        onClose() {
          revoking.value = null;
        },
      })
    }`;
}

/** The value of a new token, which nobody can show again. */
const createdValue = ({ name, token }: CreatedToken) => html`<div class="note" role="status">
  <p><strong>${name}</strong>: ${t.tokens.value}</p>
  <p><code>${token}</code></p>
  ${copyButton({ label: t.tokens.copy, done: t.tokens.copied, text: () => token })}
</div>`;

const listOf = (items: readonly Token[], revoke: (token: Token) => void) =>
  table({
    caption: t.views.tokens,
    rows: items,
    keyOf: ({ name }) => name,
    columns: [
      { label: t.tokens.name, isHeader: true, cell: ({ name }) => html`<code>${name}</code>` },
      {
        label: t.tokens.scopes,
        cell: ({ scopes }) => scopes.map((scope) => html`<code key=${scope}>${scope}</code> `),
      },
      { label: t.tokens.created, cell: ({ createdAt }) => ago(createdAt) },
      { label: t.tokens.expires, cell: expiry },
      {
        label: t.tokens.lastUsed,
        cell: ({ lastUsedAt, lastNetwork }) =>
          html`${ago(lastUsedAt)} ${lastNetwork !== null && html`<span class="soft">${t.tokens.from(lastNetwork)}</span>`}`,
      },
      {
        label: t.tokens.revoke,
        cell: (token) =>
          html`<button type="button" class="quiet" onClick=${() => revoke(token)}>${t.tokens.revoke}<span class="offscreen">: ${token.name}</span></button>`,
      },
    ],
  });

function expiry({ expiresAt }: Token): VNode | string {
  if (expiresAt === null) return t.never;
  const leftMs = Date.parse(expiresAt) - now.value;
  if (leftMs <= 0) return badge("bad", "cross", t.tokens.expired);
  return html`${until(expiresAt)} ${leftMs < SOON_MS && badge("warn", "warning", t.tokens.soon)}`;
}

const revokeDialog = (
  { name }: Token,
  { reload, onClose }: { reload: () => Promise<void>; onClose: () => void },
): VNode =>
  confirm({
    title: t.tokens.revokeTitle(name),
    children: html`<p>${t.tokens.revokeEffect}</p>`,
    action: t.tokens.revoke,
    isDangerous: true,
    async onConfirm() {
      await revokeToken(name);
      await reload();
      announce(t.tokens.isRevoked(name));
    },
    onClose,
  });
