import { MINUTE_MS } from "../../lib/durations.ts";
import type { SendToApi } from "../provider/catch-up.ts";
import type { Subscription } from "./store.ts";

/** What a source sets to keep its subscription alive. */
export interface RenewSettings {
  /** The provider, as the preset names it. */
  kind: "ms_graph" | "google_channels";
  /** The credential: a client secret, or the key of a service account. It is never logged. */
  token: string;
  /** The provider's hosts, as origins. No request goes elsewhere. */
  origins: { auth: string; api: string };
  lifeMs: number;
  /** Microsoft: the directory and the app. */
  tenant: string | null;
  client: string | null;
  /** Microsoft: what is watched, for which changes, and the subscription that is there already. */
  resource: string | null;
  changeType: string | null;
  subscription: string | null;
  /** Microsoft: whether notices about the subscription itself are asked for. */
  lifecycle: boolean;
  /** Google: the URL of the request that opens a channel, and of whom the service account sees the data. */
  watch: string | null;
  subject: string | null;
}

/** What a renewal works with. */
export interface Renewal {
  settings: RenewSettings;
  /** The subscription so far; null if there is none. */
  current: Subscription | null;
  /** Where notifications are sent to. */
  notificationUrl: string;
  /** The secret that notifications bring. */
  secret: string;
  send: SendToApi;
  now: number;
  newId(): string;
}

/** When a subscription is renewed: at a third of its life, so that several tries are left. */
function renewAt({ startedAt, expiresAt }: Pick<Subscription, "startedAt" | "expiresAt">): number {
  return startedAt + (expiresAt - startedAt) / 3;
}

// After a failure it tries again, however long the life is.
const RETRY_MS = 5 * MINUTE_MS;

/** Whether a subscription is renewed now, if nothing was heard of it. */
export function isRenewalDue(current: Subscription | null, now: number): boolean {
  // Times that are to come are those of a clock that was set back.
  if (current === null || current.triedAt > now) return true;
  if (current.error !== null) return now >= current.triedAt + RETRY_MS;
  return now >= renewAt(current);
}
