import type { VNode } from "preact";
import type { BulkAction, Selection } from "../answers.ts";
import { selectionsOf } from "../bulk.ts";
import { type Choice, useChoice } from "../choice.ts";
import { BulkDialog } from "../components/bulk-dialog.tsx";
import { Button } from "../components/button.tsx";
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
  const { value: chosen, choose, close } = useChoice<Chosen>();
  const onClose = (hasChanged: boolean) => {
    close();
    if (hasChanged) onChanged();
  };
  return (
    <>
      <div class="actions">{ofAll(open, choose)}</div>
      {ofSelected(open, choose)}
      {chosen && <BulkDialog {...chosen} onClose={onClose} />}
    </>
  );
}

type Choose = Choice<Chosen>["choose"];

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
        <Button class="quiet" label={`${t.events.replayAll}…`} onClick={choose({ action: "replay", selections })} />
      )}
      <Button
        class="quiet"
        label={`${status === "queued" ? t.events.discardQueued : t.events.discardAll}…`}
        onClick={choose({ action: "discard", selections })}
      />
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
      <Button label={`${t.events.replay}…`} onClick={choose({ action: "replay", selections, count })} />
      <Button class="quiet" label={`${t.events.discard}…`} onClick={choose({ action: "discard", selections, count })} />
      <Button class="link" label={t.events.unselect} onClick={unselect} />
    </div>
  );
}
