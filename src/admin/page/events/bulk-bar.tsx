import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import type { BulkAction, Selection } from "../answers.ts";
import { selectionsOf } from "../bulk.ts";
import { BulkDialog } from "../components/bulk-dialog.tsx";
import { t } from "../texts/texts.ts";
import type { OpenList } from "./kept-list.ts";
import { eventKey } from "./list.ts";

interface Chosen {
  action: BulkAction;
  selections: Selection[];
  count?: number;
}

/** Takes what was chosen, or all that the filter matches. */
/** The buttons that replay or discard many events. */
export function BulkBar({ open, onChanged }: { open: OpenList; onChanged: () => void }): VNode {
  const chosen = useSignal<Chosen | null>(null);
  const choose = (next: Chosen) => () => {
    chosen.value = next;
  };
  const onClose = (hasChanged: boolean) => {
    chosen.value = null;
    if (hasChanged) onChanged();
  };
  return (
    <>
      <div class="actions">{ofAll(open, choose)}</div>
      {ofSelected(open, choose)}
      {chosen.value !== null && <BulkDialog {...chosen.value} onClose={onClose} />}
    </>
  );
}

type Choose = (chosen: Chosen) => () => void;

/** A replay takes failed jobs, and a discard also those that are queued. */
function ofAll({ filter }: OpenList, choose: Choose): VNode | null {
  const { status = "failed", search, route } = filter;
  // What a search finds is taken by its id, with the jobs of every route.
  if (search && route) return null;
  if (status !== "failed" && status !== "queued") return null;
  const selections = [{ filter: { ...filter, status } }];
  return (
    <>
      {status === "failed" && (
        <button type="button" class="quiet" onClick={choose({ action: "replay", selections })}>
          {t.events.replayAll}…
        </button>
      )}
      <button type="button" class="quiet" onClick={choose({ action: "discard", selections })}>
        {status === "queued" ? t.events.discardQueued : t.events.discardAll}…
      </button>
    </>
  );
}

function ofSelected({ list, selected }: OpenList, choose: Choose): VNode | null {
  const events = list.rows.value.filter((event) => selected.value.has(eventKey(event)));
  if (events.length === 0) return null;
  const selections = selectionsOf(events);
  const count = events.length;
  const unselect = () => {
    selected.value = new Set();
  };
  return (
    <div class="selected" role="region" aria-label={t.events.selected(count)}>
      <strong>{t.events.selected(count)}</strong>
      <button type="button" onClick={choose({ action: "replay", selections, count })}>
        {t.events.replay}…
      </button>
      <button type="button" class="quiet" onClick={choose({ action: "discard", selections, count })}>
        {t.events.discard}…
      </button>
      <button type="button" class="link" onClick={unselect}>
        {t.events.unselect}
      </button>
    </div>
  );
}
