import { faultOfPasskeys, passkeySiteOf } from "../../auth/factors/passkeys.ts";
import type { FactorRecord } from "../../auth/factors/store.ts";
import type { Settings } from "../../config/settings.ts";
import { type Finding, warning } from "./finding.ts";

/** Finds passkeys that were made for another address than that of the settings, and used up recovery codes. */
export function checkFactors(
  { factors, recoveryCodesLeft }: { factors: readonly FactorRecord[]; recoveryCodesLeft: number },
  { PUBLIC_URL, COOKIE_DOMAIN }: Pick<Settings, "PUBLIC_URL" | "COOKIE_DOMAIN">,
): Finding[] {
  const fault = faultOfPasskeys(factors, PUBLIC_URL === undefined ? null : passkeySiteOf(PUBLIC_URL, COOKIE_DOMAIN));
  const findings = fault === null ? [] : [warning("passkeys", fault.found, fault.remedy)];
  if (factors.length > 0 && recoveryCodesLeft === 0)
    findings.push(warning("recovery codes", "no recovery codes are left", "run authserve factors recovery-codes"));
  return findings;
}
