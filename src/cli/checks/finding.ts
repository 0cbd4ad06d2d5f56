import { SettingsError } from "../../errors.ts";

/** What a check of `authserve doctor` found. */
export interface Finding {
  check: string;
  verdict: "ok" | "warning" | "wrong";
  found: string;
  /** What to do; null when nothing needs doing. */
  remedy: string | null;
}

export function ok(check: string, found: string): Finding {
  return { check, verdict: "ok", found, remedy: null };
}

export function warning(check: string, found: string, remedy: string): Finding {
  return { check, verdict: "warning", found, remedy };
}

/** What is wrong with settings; any other error is thrown on. */
export function wrongBy(check: string, error: unknown): Finding[] {
  if (!(error instanceof SettingsError)) throw error;
  return error.faults.map(({ found, remedy }) => wrong(check, found, remedy));
}

export function wrong(check: string, found: string, remedy: string): Finding {
  return { check, verdict: "wrong", found, remedy };
}
