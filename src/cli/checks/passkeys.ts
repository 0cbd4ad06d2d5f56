import { faultOfPasskeys, passkeySiteOf } from "../../auth/factors/passkeys.ts";
import type { FactorRecord } from "../../auth/factors/store.ts";
import type { Settings } from "../../config/settings.ts";
import { type Finding, warning } from "./finding.ts";

/** Finds passkeys that were made for another address than that of the settings. */
export function checkPasskeys(
  factors: readonly FactorRecord[],
  { PUBLIC_URL, COOKIE_DOMAIN }: Pick<Settings, "PUBLIC_URL" | "COOKIE_DOMAIN">,
): Finding[] {
  const fault = faultOfPasskeys(factors, PUBLIC_URL === undefined ? null : passkeySiteOf(PUBLIC_URL, COOKIE_DOMAIN));
  return fault === null ? [] : [warning("passkeys", fault.found, fault.remedy)];
}
