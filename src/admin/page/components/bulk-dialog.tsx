import { useSignal } from "@preact/signals";
import type { ComponentChildren, VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { BulkAction, Selection, Taken } from "../answers.ts";
import type { Step } from "../bulk.ts";
import { countMatches, discard, replay, resend } from "../requests.ts";
import { serverText, t } from "../texts/texts.ts";
import { announce } from "./announcer.tsx";
import { type Run, useRun } from "./bulk-run.ts";
import { Button } from "./button.tsx";
import { closeDialog, Dialog } from "./dialog.tsx";
import { icon } from "./icon.tsx";
import { failureText } from "./states.tsx";

interface BulkProps {
  action: BulkAction;
  selections: readonly Selection[];
  /** The number of events if it is known, else it is counted first. */
  count?: number;
  detail?: ComponentChildren;
  /** Called once the dialog has closed. `hasChanged`: something may have been taken. */
  onClose: (hasChanged: boolean) => void;
}

/** A dialog that counts what a replay or discard would take, asks, does it, and shows its progress and its result. */
export function BulkDialog({ action, selections, count, detail, onClose }: BulkProps): VNode {
  const run = useRun(count);
  const hasChanged = useSignal(false);
  // It is counted once, when the dialog opens.
  useEffect(() => {
    if (count === undefined) void run.begin("counting", selections.map(countOf(action)), "asking");
  }, []);
  const body = useRef<HTMLDivElement>(null);
  const phase = run.phase.value;
  // Each phase has other controls.
  useEffect(() => focusFirst(body.current as HTMLElement), [phase]);
  async function onSubmit(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    const reason = String(new FormData(event.currentTarget as HTMLFormElement).get("reason") ?? "").trim();
    hasChanged.value = true;
    await run.begin("running", selections.map(stepOf(action, reason)), "over");
    announce(resultText(action, run.progress.value.matched));
  }
  return (
    <Dialog title={t.bulk[action]} onClose={() => onClose(hasChanged.value)}>
      <div ref={body}>
        {detail}
        {content(action, run, onSubmit)}
      </div>
    </Dialog>
  );
}

function focusFirst(body: HTMLElement): void {
  const controls = ["input", "[type=submit]", "button"].map((selector) => body.querySelector<HTMLElement>(selector));
  controls.find((control) => control !== null)?.focus();
}

const countOf =
  (action: BulkAction) =>
  (selection: Selection): Step =>
  (cursor, signal) =>
    countMatches(action, selection, cursor, signal);

const stepOf =
  (action: BulkAction, reason: string) =>
  (selection: Selection): Step =>
  (cursor, signal) =>
    TAKE[action](selection, { reason, cursor, signal });

const TAKE: Record<
  BulkAction,
  (selection: Selection, step: { reason: string; cursor: string | undefined; signal: AbortSignal }) => Promise<Taken>
> = {
  replay: (selection, { cursor, signal }) => replay(selection, cursor, signal),
  resend: (selection, { signal }) => resend(selection, signal),
  discard: (selection, { reason, cursor, signal }) => discard(selection, reason, cursor, signal),
};

function content(action: BulkAction, run: Run, onSubmit: (event: SubmitEvent) => Promise<void>): VNode {
  switch (run.phase.value) {
    case "counting":
      return underWay(t.bulk.counting(run.progress.value.matched), run);
    case "asking":
      return run.progress.value.matched === 0 ? nothing() : question(action, run.progress.value.matched, onSubmit);
    case "running":
      return underWay(t.bulk.running(run.progress.value.matched), run);
    case "over":
      return result(action, run);
  }
}

const underWay = (text: string, run: Run) => (
  <>
    <p role="status">{text}</p>
    <progress aria-label={text} />
    <div class="actions end">
      <Button class="quiet" label={t.stop} onClick={run.stop} />
    </div>
  </>
);

const nothing = () => (
  <>
    <p role="status">{t.bulk.nothing}</p>
    {closing()}
  </>
);

const closing = () => (
  <div class="actions end">
    <Button label={t.close} onClick={closeDialog} />
  </div>
);

function question(action: BulkAction, count: number, onSubmit: (event: SubmitEvent) => Promise<void>): VNode {
  const isDiscard = action === "discard";
  return (
    <form onSubmit={onSubmit}>
      <p role="status">
        <strong>{t.bulk.will[action](count)}</strong>
      </p>
      {action === "resend" && (
        <p class="note warn">
          {icon("warning")} {t.bulk.resendWarning}
        </p>
      )}
      {isDiscard && (
        <>
          <p class="soft">{t.bulk.discardCounts}</p>
          <label>
            {t.bulk.reason}
            <input name="reason" required maxLength={1000} autocomplete="off" />
          </label>
          <p class="soft small">{t.bulk.reasonHint}</p>
        </>
      )}
      <div class="actions end">
        <Button class="quiet" label={t.cancel} onClick={closeDialog} />
        <button type="submit" class={isDiscard ? "danger" : ""}>
          {t.bulk.confirm[action]}
        </button>
      </div>
    </form>
  );
}

const resultText = (action: BulkAction, count: number) =>
  action === "discard" ? t.bulk.discarded(count) : t.bulk.replayed(count);

function result(action: BulkAction, { progress, failure, isStopped }: Run): VNode {
  const { matched, refused } = progress.value;
  return (
    <>
      <p>
        <strong>{resultText(action, matched)}</strong>
      </p>
      {isStopped.value && <p class="note">{t.bulk.stopped}</p>}
      {failure.value !== null && (
        <p class="note error" role="alert">
          {t.bulk.failed} {failureText(failure.value)}
        </p>
      )}
      {refused.length > 0 && (
        <>
          <p>{t.bulk.refused(refused.length)}</p>
          <ul class="refused" tabIndex={0}>
            {refused.map(({ eventId, reason }) => (
              <li key={eventId}>
                <code>{eventId}</code> {serverText(reason)}
              </li>
            ))}
          </ul>
        </>
      )}
      {closing()}
    </>
  );
}
