import * as v from "valibot";
import { personNamed } from "../auth/people/people.ts";
import { fieldError } from "../errors.ts";
import { isoTime } from "../lib/iso-time.ts";
import { PERSON_NAME } from "../lib/name.ts";
import { text, timestamp } from "./fields.ts";
import { type Asking, change, type OperationContext, reading } from "./operation.ts";

const WhoseSession = v.object({
  person: v.optional(v.pipe(text, v.description("The name or the id of a person. Default: who asks."))),
});

const SessionAnswer = v.object({
  userId: v.string(),
  email: v.nullable(v.string()),
  sid: v.nullable(v.string()),
  network: v.nullable(v.string()),
  userAgent: v.nullable(v.string()),
  expiresAt: v.nullable(timestamp),
});

export const shown = reading({
  path: "session",
  scope: "events:read",
  summary: "Shows who is logged in, and from where.",
  input: WhoseSession,
  output: SessionAnswer,
  async run(context, { person }) {
    const { id: userId, email } = await userOf(context, person);
    const { sid = null, expiresAt = null, origin } = (await context.stores.sessions.find(userId)) ?? {};
    const { network = null, userAgent = null } = origin ?? {};
    return { userId, email, sid, network, userAgent, expiresAt: isoTime(expiresAt) };
  },
});

export const revoke = change({
  path: "session/revoke",
  scope: "session",
  summary: "Ends the session of a `person`, or of who asks, also that of this request. The body may be `{}`.",
  input: WhoseSession,
  output: v.object({ revoked: v.boolean() }),
  audited: {
    action: "session.revoke",
    asked: ({ person }, { asker }) =>
      // Another text may be a token by mistake.
      person === undefined ? { userId: asker().id } : { person: PERSON_NAME.test(person) ? person : null },
    outcome: ({ revoked }) => (revoked ? {} : null),
  },
  async run(context, { person }) {
    const { id } = await userOf(context, person);
    return { revoked: await context.stores.sessions.remove(id) };
  },
});

/** The person with a name or an id; who asks without one. */
async function userOf(
  { asker, people }: Pick<OperationContext, "people"> & Asking,
  name: string | undefined,
): Promise<ReturnType<Asking["asker"]>> {
  if (name === undefined) return asker();
  const everybody = await people();
  const found = personNamed(everybody, name);
  if (found === undefined) throw fieldError("person", `must be one of ${everybody.map((one) => one.name).join(", ")}`);
  return found;
}
