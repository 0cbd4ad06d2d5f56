import { type RequestContext, reply } from "../../http/endpoint.ts";
import type { Reply } from "../../http/problem.ts";
import { newPasskey, passkeysOf, passkeyUserOf, registrationOptions } from "../factors/passkeys.ts";
import { STEP_MS } from "../factors/steps.ts";
import type { NewFactor } from "../factors/store.ts";
import type { Person } from "../people/people.ts";
import type { BrowserParts, PasskeyParts } from "./visit.ts";

/** Answers with what a browser needs for a new passkey of a person. */
export async function beginPasskey(
  { steps, factorsOf }: BrowserParts,
  { site, challengeCookie }: PasskeyParts,
  person: Person,
  isConditional = false,
): Promise<Reply> {
  const { id, value } = steps.begin(isConditional ? "conditional-passkey" : "new-passkey", person);
  const { usable } = passkeysOf(await factorsOf(person).list(), site);
  const options = await registrationOptions(site, id, passkeyUserOf(person), usable, isConditional);
  return { ...reply(200, options), headers: { "Set-Cookie": challengeCookie.set(value, STEP_MS / 1000) } };
}

/** Reads the passkey that a browser has made for a person. Null, and a line in the log, for one that is refused. */
export async function readPasskey(
  { steps, log }: BrowserParts,
  { site, challengeCookie }: PasskeyParts,
  person: Person,
  { request, requestId, address }: RequestContext,
  answer: string,
): Promise<Pick<NewFactor, "id" | "data" | "counter"> | null> {
  const values = challengeCookie.read(request);
  const conditional = steps.read("conditional-passkey", values, [person])?.id ?? null;
  const challenge = steps.read("new-passkey", values, [person])?.id ?? conditional;
  const made =
    challenge === null || !(await steps.finish(challenge))
      ? { fault: "this browser has no challenge, or it has expired or was used" }
      : await newPasskey(answer, site, challenge, passkeyUserOf(person).id, challenge === conditional);
  if (!("fault" in made)) return made;
  const line = { event: "passkey_refused" as const, requestId, address, reason: made.fault };
  log.warn(line, `a new passkey was refused: ${made.fault}`);
  return null;
}
