import { useEffect } from "preact/hooks";
import { announce } from "../components/announcer.tsx";
import { poll } from "../resource.ts";
import { t } from "../texts/texts.ts";
import type { OpenList } from "./kept-list.ts";

const EVERY_MS = 2000;
// A reader of the screen hears no more often of new events.
const SAID_EVERY_MS = 10_000;

/** Whether new rows would move what the reader reads or works on. */
const isBusy = ({ selected }: OpenList) =>
  scrollY > 0 || selected.value.size > 0 || hasMarkedText() || isInUse(document.activeElement);

/** A click leaves the focus in a row, too. It is not in use then. */
const isInUse = (focused: Element | null) => focused?.closest("dialog, tbody :focus-visible") != null;

const hasMarkedText = () => getSelection()?.type === "Range";

/** While `isLive`, shows new events, or lets them wait if the reader is in the list. */
export function useLiveTail(open: OpenList, isLive: boolean): void {
  useEffect(() => {
    if (!isLive) return;
    let unsaid = 0;
    let saidAt = Number.NEGATIVE_INFINITY;
    return poll(async () => {
      unsaid += await open.list.refresh(isBusy(open));
      if (unsaid === 0 || performance.now() - saidAt < SAID_EVERY_MS) return;
      announce(t.events.arrived(unsaid));
      unsaid = 0;
      saidAt = performance.now();
    }, EVERY_MS);
  }, [open, isLive]);
}
