import { DEFAULT_EXPIRY_MS } from "../auth/machine-tokens/manage.ts";
import { formatDuration, parseDurationMs } from "../config/units.ts";
import { OperatorError } from "../errors.ts";
import { create, listed, revoke } from "../operations/tokens.ts";
import { operate, withPerformer } from "./operate.ts";
import { printJson, say, sayOrLog, writeOrUndo } from "./output.ts";
import { HERE, OperationProblem, type RemoteOptions } from "./remote.ts";
import { printTable, styled } from "./table.ts";
import { timeFormat } from "./time.ts";

interface CreateOptions {
  scope: string[];
  expires?: string;
}

const OPTION_OF: Record<string, string> = { name: "The name", scopes: "--scope", expiresInMs: "--expires" };

/** Creates a token for a program, and prints its value alone on standard output, this once. */
export function runTokensCreate(name: string, { scope, expires }: CreateOptions): Promise<void> {
  const expiresInMs = parseExpiry(expires ?? formatDuration(DEFAULT_EXPIRY_MS));
  return withPerformer(HERE, async ({ perform, stores }) => {
    const created = await perform(create, { name, scopes: scope, expiresInMs }).catch((error: unknown) => {
      throw error instanceof OperationProblem ? faultOf(error) : error;
    });
    const { token, scopes, expiresAt } = created;
    // At once: an error of the output may end the process.
    const undo = () => stores?.tokens.revoke([name]).catch(() => {});
    await writeOrUndo(process.stdout, token, undo);
    const end = expiresAt === null ? "never expires" : `expires ${expiresAt}`;
    sayOrLog({ event: "token_created", name, scopes }, `The token ${name} ${end}. It is shown this once.`);
  });
}

function faultOf(problem: OperationProblem): OperatorError {
  const { path, message } = problem.field ?? {};
  const option = OPTION_OF[path?.split(".")[0] ?? ""];
  return option === undefined ? problem : new OperatorError(`${option} is not usable: it ${message}`);
}

function parseExpiry(text: string): number | null {
  if (text === "never") return null;
  const ms = parseDurationMs(text);
  if (ms !== null) return ms;
  throw new OperatorError({ found: "--expires is not usable", remedy: "give a duration such as 90d, or never" });
}

/** Prints the tokens of programs, without their values. */
export async function runTokensList({
  utc,
  json,
  ...remote
}: RemoteOptions & { utc?: boolean; json?: boolean }): Promise<void> {
  const { items } = await operate(listed, {}, remote);
  if (json) return printJson(items);
  if (items.length === 0) return say("There are no tokens.");
  const now = Date.now();
  const format = timeFormat(utc, now);
  const time = (text: string) => format(Date.parse(text));
  const rows = items.map(({ name, scopes, createdAt, expiresAt, lastUsedAt, lastNetwork }) => [
    name,
    scopes.join(" "),
    time(createdAt),
    expiresAt === null ? "never" : Date.parse(expiresAt) <= now ? styled("red", "expired") : time(expiresAt),
    lastUsedAt === null ? "never" : `${time(lastUsedAt)} from ${lastNetwork}`,
  ]);
  printTable(["NAME", { heading: "SCOPES", leastWidth: 12 }, "CREATED", "EXPIRES", "LAST USED"], rows);
}

/** Revokes tokens. A running server refuses them from the next request on. */
export async function runTokensRevoke(
  names: string[],
  { all, json, ...remote }: RemoteOptions & { all?: boolean; json?: boolean },
): Promise<void> {
  if (names.length > 0 === (all === true))
    throw new OperatorError({ found: "No token is named", remedy: "name tokens, or give --all" });
  const { names: revoked } = await operate(revoke, all ? { all } : { names }, remote);
  if (json) printJson({ revoked });
  for (const name of revoked) sayOrLog({ event: "token_revoked", name }, `The token ${name} is revoked.`);
  const unknown = names.filter((name) => !revoked.includes(name));
  if (unknown.length > 0) throw new OperatorError(`There is no token ${unknown.join(", ")}`, 1);
  if (revoked.length === 0 && !json) say("There are no tokens.");
}
