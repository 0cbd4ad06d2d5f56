import type { VNode } from "preact";
import { shown } from "../components/states.ts";
import { table } from "../components/table.ts";
import { ago } from "../components/time.ts";
import { readDenials } from "../endpoints.ts";
import { element, html } from "../html.ts";
import { printable } from "../printable.ts";
import { useResource } from "../resource.ts";
import { t } from "../texts/texts.ts";

function Denials(): VNode {
  const denied = useResource("denials", readDenials, 10_000);
  return html`<h2>${t.tokens.denials}</h2>
    ${shown(denied, ({ items }) =>
      items.length === 0
        ? html`<p class="soft">${t.tokens.noDenials}</p>`
        : table({
            caption: t.tokens.denials,
            rows: items,
            keyOf: ({ at, address, path }) => `${at} ${address} ${path}`,
            columns: [
              { label: t.tokens.when, cell: ({ at }) => ago(at) },
              {
                label: t.tokens.request,
                isHeader: true,
                cell: ({ method, host, path }) =>
                  html`<code>${method} ${printable(`${host ?? t.unknown}${path ?? ""}`)}</code>`,
              },
              { label: t.tokens.client, cell: ({ address }) => address },
              { label: t.tokens.entry, cell: ({ entry }) => entry ?? t.tokens.noEntry },
              { label: t.tokens.why, cell: ({ code }) => html`<code>${code}</code>` },
            ],
          }),
    )}`;
}

/** What forward-auth has denied lately. */
export const denials = (): VNode => element(Denials, {});
