import { placeOf } from "../auth/access/place.ts";
import { createAccess, type Judgement } from "../auth/access/rules.ts";
import { mayVerify } from "../auth/machine-tokens/scopes.ts";
import type { TokenRecord } from "../auth/machine-tokens/store.ts";
import { readEnvironment } from "../config/env-file.ts";
import { readConfigFile } from "../config/file/config-file.ts";
import { OperatorError } from "../errors.ts";
import { canonicalAddress } from "../http/proxies.ts";
import { printData, printJson } from "./output.ts";
import { withStores } from "./stores.ts";

interface ExplainOptions {
  method?: string;
  from?: string;
  token?: string;
  json?: boolean;
}

interface Explanation {
  decision: "allowed" | "denied" | "login";
  /** The number of the entry of `access` that decides, from 1. Null: none matches. */
  entry: number | null;
  reason: string;
}

/** Explains what forward-auth says to a request without a session. The exit code is 1 unless it is allowed. */
export async function runAccessExplain(url: string, options: ExplainOptions): Promise<void> {
  const place = placeOf(url);
  if (place === null)
    throw new OperatorError({
      found: "The URL is not usable",
      remedy: "give the whole one, e.g. https://app.example.com/a",
    });
  const address = options.from === undefined ? null : canonicalAddress(options.from);
  if (options.from !== undefined && address === null)
    throw new OperatorError({ found: "--from is not an address", remedy: "give one, e.g. 192.0.2.7" });
  const rules = readConfigFile(readEnvironment())?.access ?? [];
  const judgement = createAccess(rules)({ place, method: (options.method ?? "GET").toUpperCase(), address });
  const token = options.token === undefined ? null : await findToken(options.token);
  const explanation = explain(judgement, token, place.host);
  if (options.json) printJson(explanation);
  else printData(`${explanation.decision}: ${explanation.reason}`);
  if (explanation.decision !== "allowed") process.exitCode = 1;
}

async function findToken(name: string): Promise<TokenRecord> {
  let found: TokenRecord | undefined;
  await withStores(async ({ tokens }) => {
    found = (await tokens.list()).find((token) => token.name === name);
  });
  if (found === undefined)
    throw new OperatorError({ found: `There is no token ${name}`, remedy: "see authserve tokens list" });
  return found;
}

function explain(
  { allow, entry, isBound, isAmbiguous }: Judgement,
  token: TokenRecord | null,
  host: string,
): Explanation {
  const decider = entry === null ? "no entry matches" : `entry ${entry} decides`;
  const several = allow === "everyone" ? "each of which is open" : "not each of which is open to everyone";
  const doubt = isAmbiguous ? `; apps may read this path in several ways, ${several}` : "";
  const because = (decision: Explanation["decision"], reason: string) => ({
    decision,
    entry,
    reason: `${decider}, and ${reason}${doubt}`,
  });
  const session = isBound ? "a session that is bound to its device" : "a session";
  if (allow === "everyone") return because("allowed", "everyone may pass");
  if (allow.length === 0) return because("denied", "nobody may pass");
  if (token === null)
    return allow.includes("session")
      ? because("login", `the request needs ${allow.length > 1 ? `${session} or a token` : session}`)
      : because("denied", "the request needs a token");
  if (!allow.includes("token")) return because("denied", "no token may pass");
  if (token.expiresAt !== null && token.expiresAt <= Date.now())
    return because("denied", `the token ${token.name} has expired`);
  return mayVerify(token.scopes, host)
    ? because("allowed", `the token ${token.name} has the scope`)
    : because("denied", `the token ${token.name} has not the scope verify, nor verify:${host}`);
}
