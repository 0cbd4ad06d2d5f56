import type { Person } from "../../auth/people/people.ts";
import type { Environment } from "../../config/settings.ts";
import { SettingsError } from "../../errors.ts";
import type { Stores } from "../../stores.ts";
import { faultOfWaiting, type KnownPeople, readKnownPeople } from "../known-people.ts";
import { counted } from "../output.ts";
import { readIfAny } from "../stores.ts";
import type { FactorsOf } from "./factors.ts";
import { type Finding, ok, warning } from "./finding.ts";

/** The second factors of everybody, and who of the people in the file cannot log in yet. */
export function checkPeople(environment: Environment): Promise<{ factors: FactorsOf[]; findings: Finding[] }> {
  return readIfAny(environment, { factors: [], findings: [] }, async (stores) => {
    const known = await readUsable(stores);
    if (known === null) return { factors: [await factorsOf(null, stores)], findings: [] };
    const factors = await Promise.all(known.people.map((person) => factorsOf(person, stores)));
    if (known.entries === null) return { factors, findings: [] };
    const records = await stores.people.list();
    const chosen = records.filter(({ passwordHash }) => passwordHash !== null).map(({ id }) => id);
    const hasPasskey = (name: string) =>
      factors.some((one) => one.name === name && one.factors.some(({ kind }) => kind === "passkey"));
    const out = known.people
      .filter(
        ({ account, passwordHash, id }) =>
          account !== "" && passwordHash === null && !chosen.includes(id) && !hasPasskey(id),
      )
      .map(({ name }) => name);
    return { factors, findings: findingsOf(known, out) };
  });
}

function findingsOf({ people, waiting }: KnownPeople, out: readonly string[]): Finding[] {
  const count = counted(people.length, "person", "people");
  const { found, remedy } = faultOfWaiting(waiting);
  return [
    out.length === 0
      ? ok("people", `${count} can log in`)
      : warning(
          "people",
          `${count}, and no password and no passkey of ${out.join(", ")}`,
          "give each a link of authserve people invite",
        ),
    ...(waiting.length === 0 ? [] : [warning("people", found, remedy)]),
  ];
}

async function factorsOf(person: Person | null, { factors: store }: Pick<Stores, "factors">): Promise<FactorsOf> {
  const account = person?.account ?? "";
  const [factors, recoveryCodesLeft] = await Promise.all([store.list(account), store.recoveryCodesLeft(account)]);
  return { name: account === "" ? null : account, factors, recoveryCodesLeft };
}

/** Null if the settings or the file are not usable, which another check reports. */
async function readUsable(stores: Pick<Stores, "people">): Promise<KnownPeople | null> {
  try {
    return await readKnownPeople(stores);
  } catch (error) {
    if (error instanceof SettingsError) return null;
    throw error;
  }
}
