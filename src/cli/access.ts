import { placeOf } from "../auth/access/place.ts";
import { type Allowed, createAccess, isAllowed, type Judgement, mayPassWith } from "../auth/access/rules.ts";
import { mayVerify } from "../auth/machine-tokens/scopes.ts";
import type { TokenRecord } from "../auth/machine-tokens/store.ts";
import { type Person, personOfToken } from "../auth/people/people.ts";
import { readEnvironment } from "../config/env-file.ts";
import { readConfigFile } from "../config/file/config-file.ts";
import { OperatorError } from "../errors.ts";
import { canonicalAddress } from "../http/proxies.ts";
import type { Stores } from "../stores.ts";
import { findPerson, readPeople } from "./known-people.ts";
import { printData, printJson } from "./output.ts";
import { withStores } from "./stores.ts";

interface ExplainOptions {
  method?: string;
  from?: string;
  token?: string;
  person?: string;
  json?: boolean;
}

/** Who asks: a program with a token, or somebody with a session. Null: nobody who is known. */
type Asker = { token: TokenRecord; person: Person | null } | { token: null; person: Person } | null;

interface Explanation {
  decision: "allowed" | "denied" | "login";
  /** The number of the entry of `access` that decides, from 1. Null: none matches. */
  entry: number | null;
  reason: string;
}

/** Explains what forward-auth says to nobody, a person or a program. The exit code is 1 unless it is allowed. */
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
  if (options.token !== undefined && options.person !== undefined)
    throw new OperatorError({ found: "--token and --person are given", remedy: "give one of them" });
  const rules = readConfigFile(readEnvironment())?.access ?? [];
  const judgement = createAccess(rules)({ place, method: (options.method ?? "GET").toUpperCase(), address });
  const explanation = explain(judgement, await findAsker(options), place.host);
  if (options.json) printJson(explanation);
  else printData(`${explanation.decision}: ${explanation.reason}`);
  if (explanation.decision !== "allowed") process.exitCode = 1;
}

async function findAsker({ token, person }: Pick<ExplainOptions, "token" | "person">): Promise<Asker> {
  if (token === undefined && person === undefined) return null;
  let asker: Asker = null;
  await withStores(async (stores) => {
    if (person !== undefined) asker = { token: null, person: await findPerson(stores, person) };
    else if (token !== undefined) asker = await findProgram(stores, token);
  });
  return asker;
}

async function findProgram(stores: Stores, name: string): Promise<Asker> {
  const token = (await stores.tokens.list()).find((one) => one.name === name);
  if (token === undefined)
    throw new OperatorError({ found: `There is no token ${name}`, remedy: "see authserve tokens list" });
  const people = await readPeople(stores);
  return { token, person: personOfToken(people, name) };
}

function explain({ allow, entry, isBound, isAmbiguous }: Judgement, asker: Asker, host: string): Explanation {
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
  const named = allow.filter((allowed) => allowed.includes(":")).join(" or ");
  const needed = [
    ...(allow.includes("session") ? [session] : []),
    ...(allow.includes("token") ? ["a token"] : []),
    ...(named === "" ? [] : [`${session} or a token of ${named}`]),
  ].join(" or ");
  if (asker === null) return because(mayPassWith(allow, "session") ? "login" : "denied", `the request needs ${needed}`);
  const { token, person } = asker;
  if (token === null)
    return isAllowed(allow, "session", person)
      ? because("allowed", `${person.name} passes with ${session}`)
      : because("denied", `${person.name} does not pass: the request needs ${needed}`);
  const reason = faultOfToken(token, person, { allow, host });
  return reason === null ? because("allowed", `the token ${token.name} has the scope`) : because("denied", reason);
}

/** Why a token does not pass; null if it does. */
function faultOfToken(
  { name, scopes, expiresAt }: TokenRecord,
  person: Person | null,
  { allow, host }: { allow: readonly Allowed[]; host: string },
): string | null {
  if (!mayPassWith(allow, "token")) return "no token may pass";
  if (expiresAt !== null && expiresAt <= Date.now()) return `the token ${name} has expired`;
  if (!mayVerify(scopes, host)) return `the token ${name} has not the scope verify, nor verify:${host}`;
  if (person === null) return `the person of the token ${name} cannot log in`;
  return isAllowed(allow, "token", person) ? null : `the token ${name} is of ${person.name}, who may not pass`;
}
