import * as v from "valibot";
import { auditedNames } from "../audit/selection.ts";
import { createToken, DEFAULT_EXPIRY_MS, tokenJson } from "../auth/machine-tokens/manage.ts";
import { fieldError } from "../errors.ts";
import { count, cursor, text, timestamp } from "./fields.ts";
import { change, reading } from "./operation.ts";

// The tokens of programs. No token makes another one.

const TokenItem = v.object({
  name: v.string(),
  scopes: v.array(v.string()),
  createdAt: timestamp,
  expiresAt: v.pipe(v.nullable(timestamp), v.description("Null: never.")),
  lastUsedAt: v.nullable(timestamp),
  lastNetwork: v.nullable(v.string()),
});

const TokensAnswer = v.object({ items: v.array(TokenItem), cursor });

const TokenBody = v.object({
  name: v.pipe(text, v.description("After a person and a `/`, as in `ben/phone`, it is that person's own.")),
  scopes: v.array(text),
  expiresInMs: v.optional(
    v.pipe(
      v.nullable(v.pipe(v.number("must be a number"), v.integer("must be a whole number"))),
      v.description("Milliseconds. Null: never. Default: 90 days."),
    ),
  ),
});

const CreatedAnswer = v.object({
  ...TokenItem.entries,
  token: v.pipe(v.string(), v.description("The value. It is shown here only.")),
});

const RevokeBody = v.object({
  names: v.optional(v.pipe(v.array(text), v.minLength(1, "must not be empty"))),
  all: v.optional(v.literal(true)),
});

export const listed = reading({
  path: "tokens",
  scope: "manage",
  summary: "Lists the tokens of programs, also expired ones, without their values.",
  input: v.object({}),
  output: TokensAnswer,
  run: async ({ stores: { tokens } }) => ({ items: (await tokens.list()).map(tokenJson), cursor: null }),
});

export const create = change({
  path: "tokens",
  scope: "session",
  summary: "Creates a token for a program, and shows its value this once.",
  input: TokenBody,
  output: CreatedAnswer,
  audited: {
    action: "token.create",
    asked: ({ name, scopes }) => ({ name: auditedNames([name])[0], scopes }),
    outcome: ({ expiresAt }) => ({ expiresAt }),
  },
  async run({ stores: { tokens: store, now }, people, log }, { expiresInMs = DEFAULT_EXPIRY_MS, ...request }) {
    const created = await createToken({ store, people }, { ...request, expiresInMs }, now());
    if ("member" in created) throw fieldError(created.member, created.expected);
    const { token, record } = created;
    log.info({ event: "token_created", name: record.name, scopes: record.scopes }, "a token was created");
    return { ...tokenJson(record), token };
  },
});

export const revoke = change({
  path: "tokens/revoke",
  scope: "manage",
  summary: "Revokes the tokens with these `names`, or `all`. Unknown names are ignored.",
  input: RevokeBody,
  output: v.object({ revoked: count, names: v.pipe(v.array(v.string()), v.description("Those that were revoked.")) }),
  audited: {
    action: "token.revoke",
    asked: ({ names }) => ({ names: names ? auditedNames(names) : "all" }),
    outcome: ({ revoked }) => (revoked === 0 ? null : { revoked }),
  },
  async run({ stores: { tokens }, log }, { names, all }) {
    if ((names === undefined) === (all === undefined)) throw fieldError("", "must have either names or all");
    const revoked = await tokens.revoke(names ?? "all");
    for (const name of revoked) log.info({ event: "token_revoked", name }, "a token was revoked");
    return { revoked: revoked.length, names: revoked };
  },
});
