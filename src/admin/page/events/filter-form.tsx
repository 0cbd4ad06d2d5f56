import type { InputHTMLAttributes, VNode } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { EventItem } from "../answers.ts";
import { Button } from "../components/button.tsx";
import { status } from "../live.ts";
import { readSources } from "../requests.ts";
import { useResource } from "../resource.ts";
import { changeQuery, place } from "../router.ts";
import { t } from "../texts/texts.ts";
import { isUtc } from "../utc.ts";
import { FILTER_NAMES } from "./filter.ts";

const STATUSES = ["", "queued", "processed", "failed", "discarded", "unrouted"] as const;
const RANGES = ["", "1h", "24h", "7d", "custom"] as const;
const TIMES = ["since", "until"];
const MAX_SUGGESTIONS = 50;

/** The filter of a list of events, whose rows suggest values. It is kept in the address. */
export function FilterForm({ rows }: { rows: readonly EventItem[] }): VNode {
  const form = useRef<HTMLFormElement>(null);
  const sources = useResource("sources", readSources);
  const { query } = place.value;
  const clear = () => {
    form.current?.reset();
    changeQuery(query.live ? { live: query.live } : {});
  };
  const onSubmit = (event: Event) => {
    event.preventDefault();
    apply(form.current as HTMLFormElement);
  };
  // A controlled field would lose what is being typed whenever new rows come.
  useLayoutEffect(() => {
    for (const input of form.current?.querySelectorAll("input") ?? []) input.value = input.defaultValue;
  }, [query]);
  return (
    <form ref={form} class="filter" role="search" aria-label={t.events.filter} onChange={onSubmit} onSubmit={onSubmit}>
      {field("search", t.events.search, { type: "search", placeholder: t.events.searchHint, class: "wide" })}
      {select(
        "status",
        t.events.status,
        STATUSES.map((name) => [name, name === "" ? t.events.any : t.status[name]]),
      )}
      {select(
        "range",
        t.events.range,
        RANGES.map((range) => [range, t.events.ranges[range]]),
      )}
      {query.range === "custom" && (
        <>
          {timeField("since", t.events.since)}
          {timeField("until", t.events.until)}
        </>
      )}
      {select("source", t.events.source, named("source", sources.data.value?.items))}
      {select("route", t.routes.route, named("route", status.data.value?.routes))}
      {field("type", t.events.type, { type: "text", list: "types", placeholder: t.events.typeHint })}
      {field("error", t.events.error, { type: "text", list: "errors" })}
      {suggestions("types", ({ type }) => type, rows)}
      {suggestions("errors", ({ lastError }) => lastError, rows)}
      <div class="actions">
        <button type="submit">{t.events.apply}</button>
        <Button class="quiet" label={t.events.clear} onClick={clear} />
      </div>
    </form>
  );
}

/** Puts what was filled in into the address. */
function apply(form: HTMLFormElement): void {
  const fields = new FormData(form);
  const { query } = place.value;
  const textOf = (name: string) => {
    const value = fields.get(name);
    if (value === null) return query[name];
    return TIMES.includes(name) ? isoOf(String(value)) : String(value);
  };
  const isCustom = fields.get("range") === "custom";
  const names = FILTER_NAMES.filter((name) => isCustom || !TIMES.includes(name));
  changeQuery({ ...Object.fromEntries(names.map((name) => [name, textOf(name)])), live: query.live });
}

const field = (name: string, label: string, attributes: InputHTMLAttributes & { class?: string }) => (
  <label key={name} class={attributes.class}>
    {label}
    <input
      name={name}
      id={`filter-${name}`}
      defaultValue={place.value.query[name] ?? ""}
      maxLength={1000}
      autocomplete="off"
      {...attributes}
      class=""
    />
  </label>
);

const timeField = (name: string, label: string) => (
  <label key={name}>
    {label}
    <input name={name} type="datetime-local" defaultValue={localTime(place.value.query[name])} />
  </label>
);

const select = (name: string, label: string, options: (readonly [string, string])[]) => (
  <label key={name}>
    {label}
    <select name={name} value={place.value.query[name] ?? ""}>
      {options.map(([value, text]) => (
        <option key={value} value={value} selected={value === (place.value.query[name] ?? "")}>
          {text}
        </option>
      ))}
    </select>
  </label>
);

const MINUTE_MS = 60_000;

/** A time as its field wants it, in the zone of the page, e.g. `2026-01-31T12:00`. */
function localTime(iso: string | undefined): string {
  const at = Date.parse(iso ?? "");
  if (Number.isNaN(at)) return "";
  const offset = isUtc ? 0 : new Date(at).getTimezoneOffset();
  return new Date(at - offset * MINUTE_MS).toISOString().slice(0, 16);
}

const isoOf = (shown: string) => (shown === "" ? undefined : new Date(isUtc ? `${shown}Z` : shown).toISOString());

/** What the server has, and the chosen one if it is gone. */
function named(name: "source" | "route", all: readonly { name: string }[] = []): [string, string][] {
  const names = new Set(all.map((one) => one.name));
  const chosen = place.value.query[name];
  if (chosen) names.add(chosen);
  return [["", t.events.any], ...[...names].map((name): [string, string] => [name, name])];
}

/** What the listed events have, to choose from. */
function suggestions(id: string, textIn: (event: EventItem) => string | null, rows: readonly EventItem[]): VNode {
  const values = new Set(rows.map(textIn).filter((value) => value !== null));
  return (
    <datalist id={id}>
      {[...values].slice(0, MAX_SUGGESTIONS).map((value) => (
        <option key={value} value={value} />
      ))}
    </datalist>
  );
}
