import { missedConditions, subscriptionConditions } from "../../alerts/missed.ts";
import { DEFAULT_ALERTS } from "../../config/file/alerts.ts";
import { readConfigFile } from "../../config/file/config-file.ts";
import type { Environment } from "../../config/settings.ts";
import { readSources } from "../../config/sources.ts";
import { SettingsError } from "../../errors.ts";
import { readMissed, readSubscriptions } from "../../serve/missed.ts";
import type { Stores } from "../../stores.ts";
import type { Source } from "../../webhook/source.ts";
import { withStoresIfAny } from "../stores.ts";
import { type Finding, warning } from "./finding.ts";

/** Finds what was missed and may not come again, catch-ups that fail, and subscriptions that end. */
export async function checkOutages(environment: Environment): Promise<Finding[]> {
  const findings: Finding[] = [];
  try {
    const sources = readSources(environment);
    const { rules } = readConfigFile(environment)?.alerts ?? DEFAULT_ALERTS;
    await withStoresIfAny(environment, async (stores) => {
      const missed = missedConditions(await readMissed(stores, sources), rules);
      const subscriptions = await readSubscriptions(stores.subscriptions, sources);
      const ending = subscriptionConditions(subscriptions, rules, stores.now());
      findings.push(
        ...missed.map(({ summary, remedy }) => warning("outages", summary, remedy)),
        ...(await failedCatchUps(stores, sources)),
        ...ending.map(({ summary, remedy }) => warning("subscriptions", summary, remedy)),
      );
    });
  } catch (error) {
    // The check of the sources has reported it.
    if (!(error instanceof SettingsError)) throw error;
  }
  return findings;
}

async function failedCatchUps({ catchUps }: Pick<Stores, "catchUps">, sources: readonly Source[]): Promise<Finding[]> {
  const states = await Promise.all(
    sources.filter(({ catchUp }) => catchUp).map(async ({ name }) => ({ name, state: await catchUps.state(name) })),
  );
  return states.flatMap(({ name, state }) => {
    if (state === null || state.error === null) return [];
    return warning(
      "catch-up",
      `${name} has not caught up: ${state.error}`,
      `correct it, and run authserve sources catch-up ${name}`,
    );
  });
}
