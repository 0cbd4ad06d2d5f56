import type { ComponentChildren, VNode } from "preact";
import { ApiError } from "../api.ts";
import { hashOf } from "../place.ts";
import type { Resource } from "../resource.ts";
import { named, serverText, t } from "../texts/texts.ts";
import { Button } from "./button.tsx";

/** What a failure means for the reader. */
export function failureText(error: unknown): string {
  if (!(error instanceof ApiError)) return String(error);
  const { code, message, faults } = error;
  const wrong = faults.map((fault) => `${fault.path} ${serverText(fault.message)}`.trim());
  return [named(t.states.errors, code) ?? (message || code), ...wrong].join(" · ");
}

const requestOf = (error: unknown) => (error instanceof ApiError ? error.requestId : null);

/** Stands for content until it comes. It takes about as much space. */
export const skeleton = (lines = 6): VNode => (
  <div class="skeleton" role="status">
    <span class="offscreen">{t.states.loading}</span>
    {Array.from({ length: lines }, () => (
      <span aria-hidden="true" />
    ))}
  </div>
);

/** Nothing is there: what it would be, and the first step, as a link or a command. */
export const emptyState = (title: string, hint: string | null = null, step: ComponentChildren = null): VNode => (
  <div class="empty">
    <p>
      <strong>{title}</strong>
    </p>
    {hint !== null && <p>{hint}</p>}
    {step !== null && <p>{step}</p>}
  </div>
);

/** The first step where nothing can come in. */
export const addSourceLink = (): VNode => (
  <a class="button" href={hashOf(["add-source"])}>
    {t.setup.addSource}
  </a>
);

/** Nothing could be loaded. */
export const failedState = (error: unknown, retry: () => void): VNode => (
  <div class="note error" role="alert">
    <p>
      <strong>{t.states.failed}</strong>
    </p>
    <p>{failureText(error)}</p>
    {requestOf(error) !== null && (
      <p class="small">
        {t.states.request} <code>{requestOf(error)}</code>
      </p>
    )}
    <Button label={t.retry} onClick={retry} />
  </div>
);

/** Shows a resource in the state that it is in. Data that could not be refreshed stays, see `StaleNotice`. */
export function shown<T>(
  { data, failure, reload }: Resource<T>,
  render: (data: T) => ComponentChildren,
  waiting: ComponentChildren = skeleton(),
): ComponentChildren {
  if (data.value === undefined) return failure.value ? failedState(failure.value, reload) : waiting;
  return render(data.value);
}
