import { endingSoon } from "../../auth/machine-tokens/manage.ts";
import type { Environment } from "../../config/settings.ts";
import { durationText } from "../../lib/figures.ts";
import { readIfAny } from "../stores.ts";
import { type Finding, warning } from "./finding.ts";

/** Finds the tokens of programs that expire soon, or have expired. */
export async function checkTokens(environment: Environment, now: number): Promise<Finding[]> {
  const remedy = "make a new one with authserve tokens create, and revoke it";
  const records = await readIfAny(environment, [], ({ tokens }) => tokens.list());
  return endingSoon(records, now).map(({ name, expiresAt }) => {
    const leftMs = expiresAt - now;
    const end = leftMs > 0 ? `expires in ${durationText(leftMs)}` : `expired ${durationText(-leftMs)} ago`;
    return warning("tokens", `the token ${name} ${end}`, remedy);
  });
}
