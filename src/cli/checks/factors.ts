import { isWithin } from "../../auth/browser/redirect-target.ts";
import { faultOfPasskeys, passkeySiteOf } from "../../auth/factors/passkeys.ts";
import type { FactorRecord } from "../../auth/factors/store.ts";
import type { Settings } from "../../config/settings.ts";
import { type Finding, ok, warning } from "./finding.ts";

type PasskeySettings = Pick<Settings, "PUBLIC_URL" | "COOKIE_DOMAIN" | "PASSKEY_RP_ID">;

const siteOf = (settings: PasskeySettings) =>
  settings.PUBLIC_URL === undefined ? null : passkeySiteOf(settings.PUBLIC_URL, settings);

/** The second factors of a person. The name is null for the person of the environment. */
export interface FactorsOf {
  name: string | null;
  factors: readonly FactorRecord[];
  recoveryCodesLeft: number;
}

/** Finds passkeys that were made for another address than that of the settings, and used up recovery codes. */
export function checkFactors({ name, factors, recoveryCodesLeft }: FactorsOf, settings: PasskeySettings): Finding[] {
  const [whose, option] = name === null ? ["", ""] : [`${name}: `, ` --person ${name}`];
  const fault = faultOfPasskeys(factors, siteOf(settings));
  const findings = fault === null ? [] : [warning("passkeys", whose + fault.found, fault.remedy)];
  if (factors.length > 0 && recoveryCodesLeft === 0) {
    const remedy = `run authserve factors recovery-codes${option}`;
    findings.push(warning("recovery codes", `${whose}no recovery codes are left`, remedy));
  }
  return findings;
}

const ANSWER_MS = 5000;

/** Asks as browsers do whether pages of `PUBLIC_URL` may use the passkeys of another address. */
export async function checkRelatedOrigin(settings: PasskeySettings): Promise<Finding[]> {
  const site = siteOf(settings);
  if (site === null || isWithin(new URL(site.origin).hostname, site.rpId)) return [];
  const url = `https://${site.rpId}/.well-known/webauthn`;
  const named = await originsAt(url).catch(() => null);
  if (named?.includes(site.origin)) return [ok("passkeys", `${url} names ${site.origin}`)];
  const why = named === null ? `${url} cannot be read as JSON` : `${url} does not name it`;
  return [warning("passkeys", `browsers use no passkeys at ${site.origin}: ${why}`, "let it lead to this service")];
}

async function originsAt(url: string): Promise<unknown[] | null> {
  const response = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS) });
  const isJson = /^application\/json\b/i.test(response.headers.get("content-type") ?? "");
  const body: unknown = response.ok && isJson ? await response.json() : null;
  return body instanceof Object && "origins" in body && Array.isArray(body.origins) ? body.origins : null;
}
