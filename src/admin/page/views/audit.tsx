import type { VNode } from "preact";
import type { AuditItem } from "../answers.ts";
import { Heading } from "../components/heading.tsx";
import { emptyState, shown } from "../components/states.tsx";
import { table } from "../components/table.tsx";
import { ago } from "../components/time.tsx";
import { readAudit } from "../endpoints.ts";
import { useResource } from "../resource.ts";
import { t } from "../texts/texts.ts";

/** The newest changes by people and programs. */
export function Audit(): VNode {
  const audit = useResource("audit", readAudit, 10_000);
  return (
    <>
      <Heading title={t.views.audit} />
      <p class="soft">{t.audit.intro}</p>
      {shown(audit, ({ items }) => (items.length === 0 ? emptyState(t.audit.none) : listOf(items)))}
    </>
  );
}

const listOf = (items: readonly AuditItem[]): VNode =>
  table({
    caption: t.views.audit,
    rows: items,
    keyOf: ({ number }) => String(number),
    columns: [
      { label: t.audit.at, cell: ({ at }) => ago(at), isHeader: true },
      { label: t.audit.who, kind: "short", cell: ({ who }) => <code>{who}</code> },
      { label: t.audit.from, kind: "short", cell: ({ from }) => <code>{from}</code> },
      { label: t.audit.action, kind: "short", cell: ({ action }) => <code>{action}</code> },
      { label: t.audit.detail, kind: "grow", cell: ({ detail }) => <code>{JSON.stringify(detail)}</code> },
    ],
  });
