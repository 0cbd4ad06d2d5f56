import { auditedNames } from "../audit/selection.ts";
import { createToken, DEFAULT_EXPIRY_MS, tokenJson } from "../auth/machine-tokens/manage.ts";
import { formatDuration, parseDurationMs } from "../config/units.ts";
import { OperatorError } from "../errors.ts";
import { makeChange } from "./make-change.ts";
import { printJson, say, sayOrLog, writeOrUndo } from "./output.ts";
import { withStores } from "./stores.ts";
import { printTable, styled } from "./table.ts";
import { timeFormat } from "./time.ts";

interface CreateOptions {
  scope: string[];
  expires?: string;
}

const OPTION_OF = { name: "The name", scopes: "--scope", expiresInMs: "--expires" };

/** Creates a token for a program, and prints its value alone on standard output, this once. */
export function runTokensCreate(name: string, { scope, expires }: CreateOptions): Promise<void> {
  const expiresInMs = parseExpiry(expires ?? formatDuration(DEFAULT_EXPIRY_MS));
  return withStores(async (stores) => {
    const { tokens, now } = stores;
    const created = await makeChange(stores, {
      action: "token.create",
      asked: { name: auditedNames([name])[0], scopes: scope },
      make: () => createToken(tokens, { name, scopes: scope, expiresInMs }, now()),
      outcome: (made) => ("member" in made ? null : { expiresAt: tokenJson(made.record).expiresAt }),
    });
    if ("member" in created)
      throw new OperatorError(`${OPTION_OF[created.member]} is not usable: it ${created.expected}`);
    const { token, record } = created;
    const undo = () => void tokens.revoke([name]).catch(() => {});
    const { scopes, expiresAt } = tokenJson(record);
    await writeOrUndo(process.stdout, token, undo);
    const end = expiresAt === null ? "never expires" : `expires ${expiresAt}`;
    sayOrLog({ event: "token_created", name, scopes }, `The token ${name} ${end}. It is shown this once.`);
  });
}

function parseExpiry(text: string): number | null {
  if (text === "never") return null;
  const ms = parseDurationMs(text);
  if (ms !== null) return ms;
  throw new OperatorError({ found: "--expires is not usable", remedy: "give a duration such as 90d, or never" });
}

/** Prints the tokens of programs, without their values. */
export function runTokensList({ utc, json }: { utc?: boolean; json?: boolean }): Promise<void> {
  return withStores(async ({ tokens, now: clock }) => {
    const records = await tokens.list();
    if (json) return printJson(records.map(tokenJson));
    if (records.length === 0) return say("There are no tokens.");
    const now = clock();
    const time = timeFormat(utc, now);
    const rows = records.map(({ name, scopes, createdAt, expiresAt, lastUsedAt, lastNetwork }) => [
      name,
      scopes.join(" "),
      time(createdAt),
      expiresAt === null ? "never" : expiresAt <= now ? styled("red", "expired") : time(expiresAt),
      lastUsedAt === null ? "never" : `${time(lastUsedAt)} from ${lastNetwork}`,
    ]);
    printTable(["NAME", { heading: "SCOPES", leastWidth: 12 }, "CREATED", "EXPIRES", "LAST USED"], rows);
  });
}

/** Revokes tokens. A running server refuses them from the next request on. */
export async function runTokensRevoke(
  names: readonly string[],
  { all, json }: { all?: boolean; json?: boolean },
): Promise<void> {
  if (names.length > 0 === (all === true))
    throw new OperatorError({ found: "No token is named", remedy: "name tokens, or give --all" });
  await withStores(async (stores) => {
    const revoked = await makeChange(stores, {
      action: "token.revoke",
      asked: { names: all ? "all" : auditedNames(names) },
      make: () => stores.tokens.revoke(all ? "all" : names),
      outcome: (gone) => (gone.length === 0 ? null : { revoked: gone.length }),
    });
    if (json) printJson({ revoked });
    for (const name of revoked) sayOrLog({ event: "token_revoked", name }, `The token ${name} is revoked.`);
    const unknown = names.filter((name) => !revoked.includes(name));
    if (unknown.length > 0) throw new OperatorError(`There is no token ${unknown.join(", ")}`, 1);
    if (revoked.length === 0 && !json) say("There are no tokens.");
  });
}
