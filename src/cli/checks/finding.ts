import { SettingsError } from "../../errors.ts";
import type { StoreFault } from "../../storage/faults.ts";
import { counted, printData, say } from "../output.ts";
import { styled } from "../table.ts";

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

/** The pages of the manual about checks; `troubleshooting` is about the others. */
export const PAGES: Record<string, string> = {
  settings: "reference/settings",
  proxy: "protect-an-app",
  devices: "protect-an-app",
  port: "operate",
  schema: "operate",
  secrets: "operate",
  "file modes": "operate",
  sources: "receive-webhooks",
  addresses: "receive-webhooks",
  subscriptions: "recipes",
  outages: "catch-up",
  passkeys: "second-factor",
  "recovery codes": "second-factor",
  tokens: "tokens-and-access",
  keys: "private-payloads",
  pooler: "postgresql",
  connections: "postgresql",
  durability: "postgresql",
  standbys: "cluster",
  clocks: "cluster",
  clock: "faults",
  "free disk": "faults",
  writes: "faults",
};

const VERDICT_STYLE = { ok: "green", warning: "yellow", wrong: "red" } as const;

/** Prints findings for a person, each in a line, and how many are wrong. */
export function printFindings(findings: readonly Finding[]): void {
  for (const { check, verdict, found, remedy } of findings) {
    const advice = remedy === null ? "" : ` → ${remedy}`;
    printData(`${styled(VERDICT_STYLE[verdict], verdict.padEnd(8))} ${check.padEnd(10)} ${found}${advice}`);
  }
  const count = findings.filter(({ verdict }) => verdict === "wrong").length;
  if (count > 0) say(`${counted(count, "problem")} found.`);
  const pages = findings
    .filter(({ verdict }) => verdict !== "ok")
    .map(({ check }) => `authserve docs ${PAGES[check] ?? "troubleshooting"}`);
  if (pages.length > 0) say(`Read more: ${[...new Set(pages)].join(", ")}`);
}
