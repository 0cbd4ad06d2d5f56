import type { VNode } from "preact";
import { TableView } from "../components/list-view.tsx";
import { emptyState } from "../components/states.tsx";
import { ago } from "../components/time.tsx";
import { readAudit } from "../requests.ts";
import { useResource } from "../resource.ts";
import { t } from "../texts/texts.ts";

/** JSON with spaces, at which lines end. */
const spaced = (detail: unknown) =>
  JSON.stringify(detail, null, 1)
    .replace(/([[{])\n */g, "$1")
    .replace(/\n *([\]}])/g, "$1")
    .replace(/\n */g, " ");

/** The newest changes by people and programs. */
export const Audit = (): VNode => (
  <TableView
    title={t.views.audit}
    intro={t.audit.intro}
    list={useResource("audit", readAudit, 10_000)}
    rowsOf={({ items }) => items}
    empty={emptyState(t.audit.none, t.audit.noneHint, <code>authserve audit verify</code>)}
    keyOf={({ number }) => String(number)}
    columns={[
      { label: t.audit.at, cell: ({ at }) => ago(at), isHeader: true },
      { label: t.audit.who, kind: "short", cell: ({ who }) => <code>{who}</code> },
      { label: t.audit.from, kind: "short", cell: ({ from }) => <code>{from}</code> },
      { label: t.audit.action, kind: "short", cell: ({ action }) => <code>{action}</code> },
      { label: t.audit.detail, kind: "grow", cell: ({ detail }) => <code>{spaced(detail)}</code> },
    ]}
  />
);
