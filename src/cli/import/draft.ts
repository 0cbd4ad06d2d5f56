import { readSettings, type SettingName } from "../../config/settings.ts";
import { SettingsError } from "../../errors.ts";
import { printable } from "../../lib/printable.ts";

/** How large a file may be that is read. */
export const MAX_BYTES = 1024 * 1024;

/** What becomes of the configuration of another product. */
export interface Draft {
  sources: Record<string, object>;
  routes: object[];
  access: object[];
  /** The lines of `.env`, in order. Null: the user has to make the value. */
  env: Map<string, { value: string | null; how: string }>;
  /** What is not carried over, by what to do instead. */
  notes: Map<string, string[]>;
}

export const createDraft = (): Draft => ({ sources: {}, routes: [], access: [], env: new Map(), notes: new Map() });

/** Notes what is not carried over as it is, and what to do instead. */
export function note(draft: Draft, what: string, instead: string): void {
  const known = draft.notes.get(instead) ?? [];
  draft.notes.set(instead, known);
  known.push(printable(what));
}

/** Adds a line to `.env` that the user has to complete. */
export function need(draft: Draft, name: string, how: string): void {
  if (!draft.env.has(name)) draft.env.set(name, { value: null, how });
}

/** Sets a setting, or notes why its value is not usable. `what` is where the value comes from. */
export function set(draft: Draft, name: SettingName, value: string, what: string): void {
  try {
    readSettings({ [name]: value }, [name]);
    draft.env.set(name, { value, how: "" });
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    for (const { found, remedy } of error.faults) note(draft, what, `${found}: ${remedy}`);
  }
}

/** A line of `.env`; null if no quotes can hold the value. */
export function envLine(name: string, value: string): string | null {
  // In double quotes, \n is a line end.
  const isUsable = (quote: string) => !value.includes(quote) && (quote !== '"' || !value.includes("\\"));
  const quote = /[\r\n\0]/.test(value) ? undefined : ["'", '"', "`"].find(isUsable);
  return quote === undefined ? null : `${name}=${quote}${value}${quote}`;
}
