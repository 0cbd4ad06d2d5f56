import * as v from "valibot";
import { isoTime } from "../lib/iso-time.ts";
import { timestamp } from "./fields.ts";
import { type ContextWith, change, reading } from "./operation.ts";

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
  input: v.object({}),
  output: SessionAnswer,
  async run({ stores: { sessions }, userId: userIdOf, email }: ContextWith<"email">) {
    const userId = userIdOf();
    const { sid = null, expiresAt = null, origin } = (await sessions.find(userId)) ?? {};
    const { network = null, userAgent = null } = origin ?? {};
    return { userId, email: email ?? null, sid, network, userAgent, expiresAt: isoTime(expiresAt) };
  },
});

export const revoke = change({
  path: "session/revoke",
  scope: "session",
  summary: "Ends the session, also that of this request. The body is `{}`.",
  input: v.object({}),
  output: v.object({ revoked: v.boolean() }),
  audited: {
    action: "session.revoke",
    asked: (_, { userId }) => ({ userId: userId() }),
    outcome: ({ revoked }) => (revoked ? {} : null),
  },
  run: async ({ stores: { sessions }, userId }) => ({ revoked: await sessions.remove(userId()) }),
});
