import * as v from "valibot";
import { HOUR_MS } from "../../lib/durations.ts";
import { readRsaKey } from "../../lib/signed-jwt.ts";
import { GOOGLE_ORIGINS, GOOGLE_WATCH } from "../../webhook/subscriptions/google.ts";
import { GRAPH_ORIGINS } from "../../webhook/subscriptions/ms-graph.ts";
import type { RenewSettings } from "../../webhook/subscriptions/renewal.ts";
import { duration, MAX_AGE } from "../fields.ts";
import { hostLike } from "./catch-up.ts";
import { key, keyOr, TEXT } from "./fields.ts";
import type { Reading } from "./reading.ts";
import { readSecretRef } from "./secrets.ts";
import { map } from "./shape.ts";

/** The renewal of a subscription as it is written in the file. */
export const RenewSchema = map(
  {
    token: v.pipe(
      TEXT,
      v.description("The client secret, or the JSON key of a service account, as `env:NAME` or `file:PATH`."),
    ),
    life: keyOr(
      duration(HOUR_MS, "2d", MAX_AGE),
      "2d",
      "How long a subscription lasts. It is renewed at a third of this. The provider has a longest one for each resource.",
    ),
    tenant: key(TEXT, "Microsoft Graph: the directory of the app."),
    client: key(TEXT, "Microsoft Graph: the id of the app."),
    resource: key(TEXT, "Microsoft Graph: what is watched, e.g. `users/ID/messages`."),
    changeType: key(TEXT, "Microsoft Graph: the changes, e.g. `created,updated`."),
    subscription: key(TEXT, "Microsoft Graph: the id of a subscription that is there already."),
    lifecycle: key(
      v.boolean("expected true or false"),
      "Microsoft Graph: whether it also tells when the subscription is removed or must be renewed. Default: `true`.",
    ),
    watch: key(TEXT, "Google: the URL of the request that opens the channel."),
    subject: key(TEXT, "Google: the user whose data the service account watches. Default: its own."),
    host: key(hostLike("graph.example.com"), "Another host of the API, or its URL."),
  },
  "expected a map with token",
);

type RenewEntry = v.InferOutput<typeof RenewSchema>;

const NEEDED = {
  ms_graph: ["tenant", "client", "resource", "changeType"],
  google_channels: ["watch"],
} as const;
const ORIGINS = { ms_graph: GRAPH_ORIGINS, google_channels: GOOGLE_ORIGINS };

/** Reads how the subscription of a source is renewed. Null if it is not, or if there is a fault. */
export function readRenew(
  { renew: entry, preset }: { renew?: RenewEntry | undefined; preset?: string | undefined },
  source: Reading,
): RenewSettings | null {
  if (entry === undefined) return null;
  const reading = source.at("renew");
  if (preset !== "ms_graph" && preset !== "google_channels")
    return reading.fault("found beside another preset than ms_graph or google_channels, expected expiresAt", "key");
  const before = reading.faults.length;
  for (const name of NEEDED[preset]) if (entry[name] === undefined) reading.at(name).fault("missing, expected text");
  const token = readSecretRef(entry.token, reading.at("token"));
  const origins = entry.host === undefined ? ORIGINS[preset] : { auth: entry.host, api: entry.host };
  if (preset === "google_channels" && entry.watch !== undefined) {
    const watch = URL.parse(entry.watch);
    if (watch?.origin !== origins.api || !GOOGLE_WATCH.test(watch.pathname))
      reading
        .at("watch")
        .fault(`found a URL of another form, expected ${origins.api}/drive/v3/changes/watch?pageToken=…`);
    if (token !== null && !isServiceAccount(token.value))
      reading
        .at("token")
        .fault("found no key of a service account, expected its JSON with client_email and private_key");
  }
  if (token === null || reading.faults.length > before) return null;
  const { tenant = null, client = null, resource = null, changeType = null, subscription = null } = entry;
  const { watch = null, subject = null, life: lifeMs } = entry;
  const microsoft = { tenant, client, resource, changeType, subscription, lifecycle: entry.lifecycle ?? true };
  return { kind: preset, token: token.value, origins, lifeMs, ...microsoft, watch, subject };
}

function isServiceAccount(text: string): boolean {
  try {
    const { client_email: email, private_key: key } = JSON.parse(text);
    return typeof email === "string" && typeof key === "string" && readRsaKey(key) !== null;
  } catch {
    return false;
  }
}
