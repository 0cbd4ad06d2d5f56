import * as v from "valibot";
import type { Person } from "../auth/people/people.ts";
import type { PersonRecord } from "../auth/people/store.ts";
import { isoTime } from "../lib/iso-time.ts";
import type { Stores } from "../stores.ts";
import { count, cursor, timestamp } from "./fields.ts";
import { reading } from "./operation.ts";

const LiveSession = v.object({
  since: v.pipe(v.nullable(timestamp), v.description("Null if the login is not among the last 50.")),
  network: v.nullable(v.string()),
  userAgent: v.nullable(v.string()),
  expiresAt: v.nullable(timestamp),
});

const PersonItem = v.object({
  name: v.pipe(v.string(), v.description("The key in the file. Without one the id.")),
  id: v.string(),
  email: v.string(),
  displayName: v.nullable(v.string()),
  groups: v.array(v.string()),
  owner: v.boolean(),
  password: v.pipe(
    v.nullable(v.picklist(["configured", "chosen"])),
    v.description("`configured` in the file or by `DEMO_PASSWORD`, or `chosen` later. Null: there is none."),
  ),
  factors: v.pipe(count, v.description("How many second factors there are.")),
  session: v.nullable(LiveSession),
  lastLoginAt: v.nullable(timestamp),
});

export const listed = reading({
  path: "people",
  scope: "events:read",
  summary: "Lists everybody who can log in, the person of `DEMO_EMAIL` first, with who is logged in.",
  input: v.object({}),
  output: v.object({ items: v.array(PersonItem), cursor }),
  async run({ stores, people }) {
    const records = await stores.people.list();
    return {
      items: await Promise.all((await people()).map((person) => itemOf(person, records, stores))),
      cursor: null,
    };
  },
});

async function itemOf(
  { name, id, account, email, displayName, groups, isOwner, passwordHash }: Person,
  records: readonly PersonRecord[],
  { sessions, factors }: Pick<Stores, "sessions" | "factors">,
) {
  const [live, known, logins] = await Promise.all([sessions.find(id), factors.list(account), factors.logins(account)]);
  const isChosen = records.some((record) => record.id === account && record.passwordHash !== null);
  const isConfigured = account === "" || passwordHash !== null;
  const password = isConfigured ? ("configured" as const) : isChosen ? ("chosen" as const) : null;
  const since = isoTime(logins.find(({ sid }) => sid === live?.sid)?.at ?? null);
  const { network = null, userAgent = null } = live?.origin ?? {};
  return {
    ...{ name, id, email, displayName, groups: [...groups], owner: isOwner, password },
    factors: known.length,
    session: live === null ? null : { since, network, userAgent, expiresAt: isoTime(live.expiresAt) },
    lastLoginAt: isoTime(logins[0]?.at ?? null),
  };
}
