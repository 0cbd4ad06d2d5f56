import type { VNode } from "preact";
import { TableView } from "../components/list-view.tsx";
import { emptyState } from "../components/states.tsx";
import { ago } from "../components/time.tsx";
import { readDenials } from "../requests.ts";
import { useResource } from "../resource.ts";
import { named, t } from "../texts/texts.ts";

/** The requests that forward-auth has denied. */
export const Denied = (): VNode => (
  <TableView
    title={t.views.denied}
    intro={t.denied.intro}
    list={useResource("denials", readDenials, 10_000)}
    rowsOf={({ items }) => items}
    empty={emptyState(t.denied.none, t.denied.noneHint, <code>authserve access explain https://app.example.com/</code>)}
    // Several may have one time.
    keyOf={(_, fromEnd) => String(fromEnd)}
    columns={[
      { label: t.denied.at, kind: "time", cell: ({ at }) => ago(at), isHeader: true },
      {
        label: t.denied.request,
        kind: "grow",
        cell: ({ method, host, path }) => (
          <code>
            {method} {host ?? t.denied.unknown}
            {path}
          </code>
        ),
      },
      {
        label: t.event.address,
        kind: "time",
        cell: ({ address, token }) => (
          <>
            <code>{address}</code> {token}
          </>
        ),
      },
      {
        label: t.refused.reason,
        cell: ({ code, entry }) => (
          <>
            {named(t.denied.reasons, code ?? "")} <code class="soft">{code}</code>{" "}
            {entry !== null && <span class="soft">{t.denied.entry(entry)}</span>}
          </>
        ),
      },
    ]}
  />
);
