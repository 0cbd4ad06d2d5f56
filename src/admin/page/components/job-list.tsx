import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { useEffect } from "preact/hooks";
import type { OpenJobItem } from "../answers.ts";
import { printable } from "../printable.ts";
import { listJobs } from "../requests.ts";
import { eventHref } from "../router.ts";
import { formats, serverText, t } from "../texts/texts.ts";
import { Button } from "./button.tsx";
import { failedState, skeleton } from "./states.tsx";
import { table } from "./table.tsx";
import { ago } from "./time.tsx";

type Status = "failed" | "queued";

const PAGE = 20;

function JobList({ route, status }: { route: string; status: Status }): VNode {
  const rows = useSignal<OpenJobItem[] | null>(null);
  const cursor = useSignal<string | null>(null);
  const failure = useSignal<unknown>(null);
  async function load(): Promise<void> {
    const from = cursor.value;
    // The button goes meanwhile: pressed twice, it would add the page twice.
    cursor.value = null;
    try {
      const page = await listJobs({ route, status, limit: PAGE, cursor: from ?? undefined });
      rows.value = [...(rows.value ?? []), ...page.items];
      cursor.value = page.cursor;
      failure.value = null;
    } catch (error) {
      cursor.value = from;
      failure.value = error;
    }
  }
  useEffect(() => void load(), []);
  if (failure.value !== null) return failedState(failure.value, () => void load());
  if (rows.value === null) return skeleton(4);
  if (rows.value.length === 0 && cursor.value === null) return <p class="soft">{t.routes.noJobs}</p>;
  return (
    <>
      {rows.value.length > 0 && jobTable(rows.value, t.status[status])}
      {cursor.value !== null && (
        <div class="more">
          <Button class="quiet" label={t.events.more} onClick={load} />
        </div>
      )}
    </>
  );
}

const jobTable = (rows: readonly OpenJobItem[], caption: string): VNode =>
  table({
    caption,
    rows,
    keyOf: ({ source, eventId }) => `${source} ${eventId}`,
    columns: [
      {
        label: t.events.event,
        kind: "grow",
        cell: (job) => (
          <>
            <a href={eventHref(job)}>{printable(job.eventId)}</a>
            {job.lastError !== null && <span class="clip">{printable(serverText(job.lastError))}</span>}
          </>
        ),
        isHeader: true,
      },
      { label: t.events.type, cell: ({ type }) => printable(type) },
      { label: t.events.source, cell: ({ source }) => source },
      { label: t.events.attempts, kind: "number", cell: ({ attempts }) => formats.count(attempts) },
      { label: t.events.received, cell: ({ receivedAt }) => ago(receivedAt) },
    ],
  });

/** The jobs of a route that failed or wait, in order of arrival. */
export const jobList = (route: string, status: Status): VNode => (
  <JobList key={`${route} ${status}`} route={route} status={status} />
);
