import * as v from "valibot";
import { auditedNames } from "../audit/selection.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { type AdminGuard, changeEndpoint, readEndpoint } from "./endpoint.ts";
import { count, cursor, fieldError, text, timestamp } from "./fields.ts";

export interface TokenParts extends AdminGuard {
  tokens: {
    list(): Promise<v.InferOutput<typeof TokenItem>[]>;
    /** Returns what is wrong with a request instead of the token. */
    create(
      request: NewToken,
    ): Promise<v.InferOutput<typeof CreatedAnswer> | { member: keyof NewToken; expected: string }>;
    /** Returns the names of those that were there. */
    revoke(names: readonly string[] | "all"): Promise<string[]>;
  };
}

interface NewToken {
  name: string;
  scopes: string[];
  /** Null: it never expires. Undefined: the default. */
  expiresInMs?: number | null | undefined;
}

const TokenItem = v.object({
  name: v.string(),
  scopes: v.array(v.string()),
  createdAt: timestamp,
  expiresAt: v.pipe(v.nullable(timestamp), v.description("Null: never.")),
  lastUsedAt: v.nullable(timestamp),
  lastNetwork: v.nullable(v.string()),
});

export const TokensAnswer = v.object({ items: v.array(TokenItem), cursor });

const TokenBody = v.object({
  name: text,
  scopes: v.array(text),
  expiresInMs: v.optional(
    v.pipe(
      v.nullable(v.pipe(v.number("must be a number"), v.integer("must be a whole number"))),
      v.description("Milliseconds. Null: never. Default: 90 days."),
    ),
  ),
});

export const CreatedAnswer = v.object({
  ...TokenItem.entries,
  token: v.pipe(v.string(), v.description("The value. It is shown here only.")),
});

const RevokeBody = v.object({
  names: v.optional(v.pipe(v.array(text), v.minLength(1, "must not be empty"))),
  all: v.optional(v.literal(true)),
});
const RevokedAnswer = v.object({ revoked: count });

/** The tokens of programs. Only the live session manages them, so that no token makes another one. */
export function tokenEndpoints(parts: TokenParts): Endpoint[] {
  const { tokens } = parts;
  return [
    readEndpoint(parts, {
      path: "/admin/api/tokens",
      scope: "session",
      summary: "Lists the tokens of programs, also expired ones, without their values.",
      response: TokensAnswer,
      read: async () => ({ items: await tokens.list(), cursor: null }),
    }),
    changeEndpoint(parts, {
      path: "/admin/api/tokens",
      scope: "session",
      summary: "Creates a token for a program, and shows its value this once.",
      request: TokenBody,
      response: CreatedAnswer,
      audited: {
        action: "token.create",
        asked: ({ name, scopes }) => ({ name: auditedNames([name])[0], scopes }),
        outcome: ({ expiresAt }) => ({ expiresAt }),
      },
      async change(request) {
        const created = await tokens.create(request);
        if ("member" in created) throw fieldError(created.member, created.expected);
        return created;
      },
    }),
    changeEndpoint(parts, {
      path: "/admin/api/tokens/revoke",
      scope: "session",
      summary: "Revokes the tokens with these `names`, or `all`. Unknown names are ignored.",
      request: RevokeBody,
      response: RevokedAnswer,
      audited: {
        action: "token.revoke",
        asked: ({ names }) => ({ names: names ? auditedNames(names) : "all" }),
        outcome: ({ revoked }) => (revoked === 0 ? null : { revoked }),
      },
      async change({ names, all }) {
        if ((names === undefined) === (all === undefined)) throw fieldError("", "must have either names or all");
        return { revoked: (await tokens.revoke(names ?? "all")).length };
      },
    }),
  ];
}
