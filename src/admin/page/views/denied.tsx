import type { VNode } from "preact";
import type { Denial } from "../answers.ts";
import { Heading } from "../components/heading.tsx";
import { emptyState, shown } from "../components/states.tsx";
import { table } from "../components/table.tsx";
import { ago } from "../components/time.tsx";
import { readDenials } from "../endpoints.ts";
import { useResource } from "../resource.ts";
import { named, t } from "../texts/texts.ts";

/** The requests that forward-auth has denied. */
export function Denied(): VNode {
  const denials = useResource("denials", readDenials, 10_000);
  return (
    <>
      <Heading title={t.views.denied} />
      <p class="soft">{t.denied.intro}</p>
      {shown(denials, ({ items }) => (items.length === 0 ? emptyState(t.denied.none) : listOf(items)))}
    </>
  );
}

const listOf = (items: readonly Denial[]): VNode =>
  table({
    caption: t.views.denied,
    rows: items,
    // The newest is the first, and several may have one time.
    keyOf: (denial) => String(items.length - items.indexOf(denial)),
    columns: [
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
    ],
  });
