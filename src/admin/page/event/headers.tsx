import type { VNode } from "preact";
import { table } from "../components/table.tsx";
import { printable } from "../printable.ts";
import { t } from "../texts/texts.ts";

/** The headers of a delivery. */
export function headers(headers: Record<string, string>): VNode {
  const all = Object.entries(headers);
  if (all.length === 0) return <p class="soft">{t.event.noHeaders}</p>;
  return table({
    caption: t.event.headers,
    rows: all,
    keyOf: ([name]) => name,
    columns: [
      { label: t.event.name, cell: ([name]) => <code>{printable(name)}</code>, isHeader: true },
      { label: t.event.value, cell: ([, value]) => <code>{printable(value)}</code> },
    ],
  });
}
