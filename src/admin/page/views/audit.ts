import type { VNode } from "preact";
import type { AuditItem } from "../answers.ts";
import { heading } from "../components/heading.ts";
import { emptyState, shown } from "../components/states.ts";
import { table } from "../components/table.ts";
import { ago } from "../components/time.ts";
import { readAudit } from "../endpoints.ts";
import { html } from "../html.ts";
import { useResource } from "../resource.ts";
import { t } from "../texts/texts.ts";

/** The newest changes by people and programs. */
export function Audit(): VNode {
  const audit = useResource("audit", readAudit, 10_000);
  return html`${heading(t.views.audit)}
    <p class="soft">${t.audit.intro}</p>
    ${shown(audit, ({ items }) => (items.length === 0 ? emptyState(t.audit.none) : listOf(items)))}`;
}

const listOf = (items: readonly AuditItem[]): VNode =>
  table({
    caption: t.views.audit,
    rows: items,
    keyOf: ({ number }) => String(number),
    columns: [
      { label: t.audit.at, cell: ({ at }) => ago(at), isHeader: true },
      { label: t.audit.who, kind: "short", cell: ({ who }) => html`<code>${who}</code>` },
      { label: t.audit.from, kind: "short", cell: ({ from }) => html`<code>${from}</code>` },
      { label: t.audit.action, kind: "short", cell: ({ action }) => html`<code>${action}</code>` },
      { label: t.audit.detail, kind: "grow", cell: ({ detail }) => html`<code>${JSON.stringify(detail)}</code>` },
    ],
  });
