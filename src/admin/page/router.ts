import { signal } from "@preact/signals";
import { hashOf, parsePlace } from "./place.ts";
import { returnToPlace } from "./returning.ts";

// Views come later than the browser would scroll: they do it themselves.
history.scrollRestoration = "manual";
returnToPlace();

/** The place that the address names. */
export const place = signal(parsePlace(location.hash));

addEventListener("hashchange", () => {
  place.value = parsePlace(location.hash);
});

/** Changes the query of the address, as a new entry of the history unless `replace` is set. */
export function changeQuery(query: Record<string, string | undefined>, { replace = false } = {}): void {
  const hash = hashOf(place.value.path, query);
  if (!replace) {
    location.hash = hash;
    return;
  }
  history.replaceState(null, "", hash);
  place.value = parsePlace(hash);
}

/** The link to an event. */
export const eventHref = ({ source, eventId }: { source: string; eventId: string }) =>
  hashOf(["events", eventId], { source });
