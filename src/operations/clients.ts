import * as v from "valibot";
import type { Client } from "../auth/clients/client.ts";
import { endsOf } from "../auth/clients/preset.ts";
import { type ClientState, readClientStates } from "../auth/clients/states.ts";
import { isoTime } from "../lib/iso-time.ts";
import { count, cursor, text, timestamp } from "./fields.ts";
import { change, reading } from "./operation.ts";

// The apps that log in through this service.

const ClientItem = v.object({
  name: v.string(),
  preset: v.nullable(v.string()),
  redirects: v.array(v.string()),
  backchannel: v.pipe(v.nullable(v.string()), v.description("Where it is told of the end of a session.")),
  ends: v.pipe(v.picklist(["at once", "with its own session"]), v.description("When it is logged out there.")),
  open: v.pipe(v.boolean(), v.description("Whether it takes part in the session that is open.")),
  waiting: v.pipe(count, v.description("The ended sessions that it is still to be told of.")),
  failed: v.pipe(count, v.description("Those of 30 days that it could not be told of.")),
  error: v.pipe(v.nullable(v.string()), v.description("Why the last attempt to tell it failed.")),
  failedAt: v.pipe(v.nullable(timestamp), v.description("When the last of those that failed was given up.")),
});

export const listed = reading({
  path: "clients",
  scope: "events:read",
  summary: "Lists the apps that log in here, with when their sessions end, and the ends that they were not told.",
  input: v.object({}),
  output: v.object({ items: v.array(ClientItem), cursor }),
  async run({ stores, clients }) {
    const configured = await clients();
    const states = await readClientStates(configured, stores);
    return { items: configured.map((client, index) => itemOf(client, states[index] as ClientState)), cursor: null };
  },
});

function itemOf(
  { name, preset, redirects, logout: { backchannel } }: Client,
  { isOpen, waiting, failed }: ClientState,
) {
  const [last] = failed;
  const error = waiting.find((one) => one.error !== null)?.error ?? last?.error ?? null;
  return {
    ...{ name, preset, redirects: [...redirects], backchannel },
    ends: endsOf(backchannel),
    open: isOpen,
    waiting: waiting.length,
    failed: failed.length,
    error,
    failedAt: isoTime(last?.failedAt ?? null),
  };
}

export const retry = change({
  path: "clients/retry",
  scope: "manage",
  summary: "Tells an app, or every app, again of the ended sessions that it could not be told of.",
  input: v.object({ name: v.optional(v.pipe(text, v.description("Default: every app."))) }),
  output: v.object({ retried: count }),
  audited: {
    action: "clients.retry",
    asked: ({ name = null }) => ({ name }),
    outcome: ({ retried }) => (retried === 0 ? null : { retried }),
  },
  run: async ({ stores }, { name = null }) => ({ retried: await stores.clients.retryLogouts(name) }),
});
