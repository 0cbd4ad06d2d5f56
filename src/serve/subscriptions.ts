import { randomUUID } from "node:crypto";
import { sourcesOf } from "../config/sources.ts";
import { isoTime } from "../lib/iso-time.ts";
import { type Repetition, repeat } from "../lib/repeat.ts";
import type { Source } from "../webhook/source.ts";
import { renewIfDue } from "../webhook/subscriptions/renew.ts";
import { apiOf } from "./catch-up.ts";
import type { Wiring } from "./configuration.ts";
import type { Part } from "./parts.ts";

const LOOK_EVERY_MS = 30_000;
// The provider checks the address of a new subscription, so that the server must be reachable first.
const FIRST_LOOK_MS = 5000;

/** Creates the renewal of subscriptions. `isOnDuty` tells whether this server alone does it now. */
export function openSubscriptions({ settings, config, stores, log }: Wiring, isOnDuty: () => Promise<boolean>): Part {
  const stopping = new AbortController();
  let looking: Repetition | undefined;

  async function look(): Promise<void> {
    const sources = sourcesOf(settings, config.current).filter(({ renew }) => renew !== undefined);
    if (sources.length === 0 || !(await isOnDuty())) return;
    await Promise.all(sources.map(renew));
  }

  async function renew({ name, renew: how, publicOrigin, path, secrets }: Source): Promise<void> {
    if (how === undefined) return;
    const renewed = await renewIfDue(stores, name, {
      settings: how,
      notificationUrl: `${publicOrigin ?? ""}${path}`,
      secret: secrets[0]?.value ?? "",
      send: apiOf([how.origins.auth, how.origins.api], stores.now, stopping.signal),
      now: stores.now(),
      newId: randomUUID,
    });
    if (renewed === null || stopping.signal.aborted) return;
    const { error, expiresAt } = renewed;
    if (error === null)
      log.info(
        { event: "subscription_renewed", source: name, expiresAt: isoTime(expiresAt) },
        `the subscription of ${name} was renewed`,
      );
    else
      log.warn(
        { event: "subscription_error", source: name, error },
        `the subscription of ${name} was not renewed; retrying`,
      );
  }

  return {
    start() {
      looking = repeat(look, {
        firstMs: FIRST_LOOK_MS,
        everyMs: LOOK_EVERY_MS,
        onError: (error) =>
          log.warn({ event: "subscription_error", error }, "no subscription could be renewed; retrying"),
      });
    },
    async stop() {
      stopping.abort();
      await looking?.stop();
    },
  };
}
