import { useEffect } from "preact/hooks";
import { announce } from "../components/announcer.tsx";
import { poll } from "../resource.ts";
import { t } from "../texts/texts.ts";
import type { OpenList } from "./kept-list.ts";

const EVERY_MS = 2000;
const TOP_PX = 150;

/** Whether new rows would move what the reader reads or works on. */
const isBusy = ({ selected }: OpenList) =>
  scrollY > TOP_PX || selected.value.size > 0 || Boolean(document.activeElement?.closest("tbody, dialog"));

/** While `isLive`, shows new events, or lets them wait if the reader is in the list. */
export function useLiveTail(open: OpenList, isLive: boolean): void {
  useEffect(() => {
    if (!isLive) return;
    return poll(async () => {
      const count = await open.list.refresh(isBusy(open));
      if (count > 0) announce(t.events.arrived(count));
    }, EVERY_MS);
  }, [open, isLive]);
}
