import { counted, printData, say } from "../output.ts";
import { styled } from "../table.ts";
import type { Finding } from "./finding.ts";

const VERDICT_STYLE = { ok: "green", warning: "yellow", wrong: "red" } as const;

/** Prints findings for a person, each in a line, and how many are wrong. */
export function printFindings(findings: readonly Finding[]): void {
  for (const { check, verdict, found, remedy } of findings) {
    const advice = remedy === null ? "" : ` → ${remedy}`;
    printData(`${styled(VERDICT_STYLE[verdict], verdict.padEnd(8))} ${check.padEnd(10)} ${found}${advice}`);
  }
  const count = findings.filter(({ verdict }) => verdict === "wrong").length;
  if (count > 0) say(`${counted(count, "problem")} found.`);
}
