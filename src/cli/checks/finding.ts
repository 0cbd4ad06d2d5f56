import { SettingsError } from "../../errors.ts";
import type { StoreFault } from "../../lib/store-fault.ts";

/** The result of a check of `authserve doctor`. */
export interface Finding {
  check: string;
  verdict: "ok" | "warning" | "wrong";
  found: string;
  /** What to do; null if nothing needs to be done. */
  remedy: string | null;
}

export function ok(check: string, found: string): Finding {
  return { check, verdict: "ok", found, remedy: null };
}

export function warning(check: string, found: string, remedy: string): Finding {
  return { check, verdict: "warning", found, remedy };
}

/** The findings for a {@link SettingsError}. Rethrows any other error. */
export function wrongSettings(check: string, error: unknown): Finding[] {
  if (!(error instanceof SettingsError)) throw error;
  return error.faults.map(({ found, remedy }) => wrong(check, found, remedy));
}

export function wrong(check: string, found: string, remedy: string): Finding {
  return { check, verdict: "wrong", found, remedy };
}

/** What a trial write to each table has found. A fault of several parts is reported once. */
export function trialFindings(faults: readonly StoreFault[]): Finding[] {
  if (faults.length === 0) return [ok("writes", "a trial delivery was stored and taken back")];
  const byText = new Map(faults.map(({ found, remedy }) => [found, remedy]));
  return [...byText].map(([found, remedy]) => wrong("writes", found, remedy));
}
