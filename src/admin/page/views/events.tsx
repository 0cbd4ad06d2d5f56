import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { useEffect, useLayoutEffect, useMemo } from "preact/hooks";
import { Button } from "../components/button.tsx";
import { Heading } from "../components/heading.tsx";
import { addSourceLink, emptyState, failedState, skeleton } from "../components/states.tsx";
import { BulkBar } from "../events/bulk-bar.tsx";
import { FilterForm } from "../events/filter-form.tsx";
import { forgetList, listKey, type OpenList, openList } from "../events/kept-list.ts";
import { keys, rowLinks } from "../events/keys.tsx";
import { eventKey } from "../events/list.ts";
import { useLiveTail } from "../events/live-tail.ts";
import { eventRows } from "../events/rows.tsx";
import { status } from "../live.ts";
import { hashOf } from "../place.ts";
import { readSources } from "../requests.ts";
import { useResource } from "../resource.ts";
import { changeQuery, place } from "../router.ts";
import { t } from "../texts/texts.ts";

/** The events: found by filter, watched as they come, and replayed or discarded. */
export function Events(): VNode {
  const { query } = place.value;
  const version = useSignal(0);
  const key = `${version.value} ${listKey(query)}`;
  // The key stands for the query.
  const open = useMemo(() => openList(query), [key]);
  const onChanged = () => {
    forgetList();
    version.value++;
    void status.reload();
  };
  return (
    <>
      <Heading title={t.views.events} />
      <FilterForm rows={open.list.rows.value} />
      <List key={key} open={open} onChanged={onChanged} />
    </>
  );
}

function List({ open, onChanged }: { open: OpenList; onChanged: () => void }): VNode {
  const { list } = open;
  const { query } = place.value;
  useEffect(() => {
    void (list.rows.value.length === 0 ? list.loadMore() : list.refresh(open.scrollY > 0));
    return () => list.stop();
  }, [open, list]);
  useReadersPlace(open);
  useLiveTail(open, query.live === "1");
  return (
    <>
      <div class="bar">
        {liveToggle()}
        {selectAll(open)}
        {keys()}
        <span class="grow" />
        {list.rows.value.length > 0 && <BulkBar open={open} onChanged={onChanged} />}
      </div>
      <div class="arrivals">
        {list.waiting.value.length > 0 && (
          <Button label={t.events.waiting(list.waiting.value.length)} onClick={() => showWaiting(open)} />
        )}
      </div>
      {list.rows.value.length > 0 && eventRows(open)}
      <Ending open={open} />
    </>
  );
}

/** Leads the reader back to where the list was left. */
function useReadersPlace(open: OpenList): void {
  useLayoutEffect(() => {
    // After the heading has scrolled to the top.
    const frame = requestAnimationFrame(() => {
      scrollTo(0, open.scrollY);
      rowLinks()
        .find((link) => link.hash === open.focused)
        ?.focus({ preventScroll: true });
    });
    const onScroll = () => {
      open.scrollY = scrollY;
    };
    const timer = setTimeout(() => addEventListener("scroll", onScroll, { passive: true }), 100);
    return () => {
      open.focused = rowLinks().find((link) => link === document.activeElement)?.hash ?? null;
      cancelAnimationFrame(frame);
      clearTimeout(timer);
      removeEventListener("scroll", onScroll);
    };
  }, [open]);
}

function showWaiting({ list }: OpenList): void {
  list.showWaiting();
  scrollTo(0, 0);
  requestAnimationFrame(() => rowLinks()[0]?.focus({ preventScroll: true }));
}

function liveToggle(): VNode {
  const { query } = place.value;
  const isLive = query.live === "1";
  const onChange = () => changeQuery({ ...query, live: isLive ? undefined : "1" }, { replace: true });
  return (
    <label class="toggle" title={t.events.liveHint}>
      <input type="checkbox" role="switch" aria-checked={isLive} checked={isLive} onChange={onChange} />
      {t.events.live}
    </label>
  );
}

function selectAll({ list, selected }: OpenList): VNode {
  const all = list.rows.value.map(eventKey);
  const isWhole = all.length > 0 && all.every((key) => selected.value.has(key));
  const onChange = () => {
    selected.value = new Set(isWhole ? [] : all);
  };
  return (
    <label class="toggle">
      <input type="checkbox" checked={isWhole} disabled={all.length === 0} onChange={onChange} />
      {t.events.selectAll}
    </label>
  );
}

function Ending({ open: { list, filter } }: { open: OpenList }): VNode {
  const sources = useResource("sources", readSources);
  const count = list.rows.value.length;
  if (list.isLoading.value) return loading(count, list.stop);
  if (list.failure.value !== null) return failedState(list.failure.value, list.loadMore);
  if (list.hasMore.value)
    return (
      <div class="more">
        <span class="soft">{t.events.shown(count)}</span>{" "}
        <Button class="quiet" label={t.events.more} onClick={list.loadMore} />
      </div>
    );
  if (count > 0)
    return (
      <p class="more soft">
        {t.events.shown(count)} · {t.events.end}
      </p>
    );
  const isFiltered = Object.keys(filter).length > 0;
  if (isFiltered)
    return emptyState(t.events.noneMatch, t.events.noneMatchHint, <a href={hashOf(["events"])}>{t.events.clear}</a>);
  const [source] = sources.data.value?.items ?? [];
  return emptyState(
    t.events.empty,
    t.events.emptyHint,
    source ? (
      <>
        {t.events.sampleHow}
        <br />
        <code>authserve send --source {source.name}</code>
      </>
    ) : (
      addSourceLink()
    ),
  );
}

const loading = (count: number, stop: () => void) => (
  <div>
    {count === 0 && skeleton(8)}
    <div class="more">
      <span role="status" class="soft">
        {t.events.searching(count)}
      </span>{" "}
      <Button class="quiet" label={t.stop} onClick={stop} />
    </div>
  </div>
);
