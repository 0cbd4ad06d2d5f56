import {
  addFactor,
  factorJson,
  factorName,
  renewRecoveryCodes,
  TOO_MANY_FACTORS,
  totpFactor,
} from "../auth/factors/manage.ts";
import { qrText } from "../auth/factors/qr-code.ts";
import { plainCode } from "../auth/factors/recovery-codes.ts";
import { spendTotp } from "../auth/factors/second-factors.ts";
import { factorsOf } from "../auth/factors/store.ts";
import { clockHint, loadTotp } from "../auth/factors/totp.ts";
import { OperatorError } from "../errors.ts";
import { isoTime } from "../lib/iso-time.ts";
import type { Stores } from "../stores.ts";
import { makeChange } from "./make-change.ts";
import { counted, printData, printJson, say, sayOrLog } from "./output.ts";
import { ask } from "./prompt.ts";
import { withStores } from "./stores.ts";
import { printTable } from "./table.ts";
import { timeFormat } from "./time.ts";

const NO_FACTORS = "There is no second factor: the password is enough.";

/** Whose factors. By default those of the person of the environment. */
interface OfPerson {
  person?: string;
}

/** The factors of a person. `of` says in the audit and the log whose they are, and `option` in a command. */
async function openFactors(stores: Stores, { person: name }: OfPerson) {
  if (name === undefined)
    return { store: factorsOf(stores.factors, ""), of: {}, option: "", email: null, none: NO_FACTORS };
  const { account, email } = await (await import("./known-people.ts")).findPerson(stores, name);
  const of = account === "" ? {} : { person: account };
  const none = account === "" ? NO_FACTORS : `${name} has no second factor.`;
  return { store: factorsOf(stores.factors, account), of, option: ` --person ${name}`, email, none };
}

/** Prints the second factors, and how many recovery codes are left. */
export function runFactorsList({ utc, json, ...whose }: OfPerson & { utc?: boolean; json?: boolean }): Promise<void> {
  return withStores(async (stores) => {
    const { now } = stores;
    const { store, none } = await openFactors(stores, whose);
    const [factors, recoveryCodesLeft] = await Promise.all([store.list(), store.recoveryCodesLeft()]);
    if (json) return printJson({ factors: factors.map(factorJson), recoveryCodesLeft });
    if (factors.length === 0) return say(none);
    const time = timeFormat(utc, now());
    const rows = factors.map(({ id, kind, name, createdAt, lastUsedAt }) => [
      id,
      kind,
      name,
      time(createdAt),
      lastUsedAt === null ? "never" : time(lastUsedAt),
    ]);
    printTable(["ID", "KIND", { heading: "NAME", leastWidth: 12 }, "ADDED", "LAST USED"], rows);
    say(`${counted(recoveryCodesLeft, "recovery code is", "recovery codes are")} left.`);
  });
}

/** Removes second factors. A running server does not ask for them from the next login on. */
export async function runFactorsRemove(
  ids: readonly string[],
  { all, json, ...whose }: OfPerson & { all?: boolean; json?: boolean },
): Promise<void> {
  if (ids.length > 0 === (all === true))
    throw new OperatorError({ found: "No factor is named", remedy: "give ids of authserve factors list, or --all" });
  await withStores(async (stores) => {
    const { store, of, none } = await openFactors(stores, whose);
    const known = await store.list();
    const removed = await makeChange(stores, {
      action: "factor.remove",
      asked: { ...of, ids: all ? "all" : ids },
      make: () => store.remove(all ? "all" : ids),
      outcome: (gone) => (gone.length === 0 ? null : { removed: gone }),
    });
    if (json) printJson({ removed });
    for (const { id, kind, name } of known.filter(({ id }) => removed.includes(id)))
      sayOrLog({ event: "factor_removed", factor: id, kind, name, ...of }, `The factor ${name} is removed.`);
    if (removed.length > 0 && removed.length === known.length) say(none);
    const unknown = ids.filter((id) => !removed.includes(id));
    if (unknown.length > 0) throw new OperatorError(`There is no factor ${unknown.join(", ")}`, 1);
    if (removed.length === 0 && !json) say(none);
  });
}

/** Makes new recovery codes, and prints them this once. The earlier ones do not work any more. */
export function runFactorsRecoveryCodes({ json, ...whose }: OfPerson & { json?: boolean }): Promise<void> {
  return withStores(async (stores) => {
    const { store, of, option } = await openFactors(stores, whose);
    if ((await store.list()).length === 0) {
      const remedy = `add a factor first, with authserve factors add-totp${option} or on the page /account`;
      throw new OperatorError({ found: "There is no second factor", remedy }, 1);
    }
    const codes = await makeChange(stores, {
      action: "factor.recovery_codes",
      asked: of,
      make: () => renewRecoveryCodes(store),
      outcome: ({ length }) => ({ codes: length }),
    });
    if (json) printJson(codes);
    else printCodes(codes);
    const line = { event: "recovery_codes_renewed" as const, ...of };
    sayOrLog(line, "Each code works once. They are shown this once, and the earlier ones do not work any more.");
  });
}

const printCodes = (codes: readonly string[]) => {
  for (const code of codes) printData(code);
};

interface AddTotpOptions extends OfPerson {
  name?: string;
  unconfirmed?: boolean;
  json?: boolean;
}

/** Prints the QR code of a new authenticator app, and adds the app once it has shown a right code. */
export function runFactorsAddTotp({ name = "", unconfirmed, json, ...whose }: AddTotpOptions): Promise<void> {
  if (json && !unconfirmed) {
    const found = "--json prints the secret and the factor at once, before the app can show a code";
    throw new OperatorError({ found, remedy: "add --unconfirmed, or leave --json out" });
  }
  const more = ["DEMO_EMAIL", "PUBLIC_URL"] as const;
  return withStores(async (stores) => {
    const { settings, now } = stores;
    const { store, of, option, email } = await openFactors(stores, whose);
    const { newSecret, uriOf } = await loadTotp();
    const secret = newSecret();
    const issuer = settings.PUBLIC_URL === undefined ? "authserve" : new URL(settings.PUBLIC_URL).hostname;
    const uri = uriOf(secret, issuer, email ?? settings.DEMO_EMAIL);
    if (!json && process.stdout.isTTY) printData(await qrText(uri));
    if (!json) printData(uri);
    const factor = totpFactor(secret, factorName(name, "authenticator app"), now());
    // The code that is typed here proves no login.
    if (!unconfirmed) await spendTotp(store, factor.id, await stepOfShownCode(secret, now), now());
    const { id, kind } = factor;
    const added = await makeChange(stores, {
      action: "factor.add",
      asked: { ...of, id, kind, name: factor.name },
      make: () => addFactor(store, factor),
      outcome: (made) => (made === null ? null : {}),
    });
    if (added === null) throw new OperatorError(`No factor was added: ${TOO_MANY_FACTORS}`, 1);
    const { recoveryCodes } = added;
    if (json) printJson({ id, name: factor.name, uri, recoveryCodes });
    else printCodes(recoveryCodes ?? []);
    const codes = recoveryCodes === null ? "" : " Keep the recovery codes: each works once in place of a code.";
    const hint = unconfirmed ? ` If the app shows no code, run authserve factors remove ${id}${option}.` : "";
    const words = `The authenticator app is added. Its secret and new recovery codes are shown this once.${codes}${hint}`;
    sayOrLog({ event: "factor_added", factor: id, kind, name: factor.name, ...of }, words);
  }, more);
}

/** Asks for the code of the app. Throws {@link OperatorError} if none comes. */
function askForCode(): Promise<string> {
  const { isTTY } = process.stdin;
  const question = "Read the QR code or the URI with the app. The code that it shows: ";
  return ask(isTTY ? question : `${question}\n`).catch((error: unknown) => {
    if (isTTY) throw error;
    const found = "Standard input has no code of the app, so no factor was added";
    throw new OperatorError({ found, remedy: "give the code as one line, or add --unconfirmed" }, 1);
  });
}

/**
 * The time step of the code that the app shows. On a terminal it asks until the code is right. Otherwise it reads one
 * line. Throws {@link OperatorError} if that is wrong, or if there is none.
 */
async function stepOfShownCode(secret: string, now: () => number): Promise<number> {
  const { stepOf, aheadOf } = await loadTotp();
  for (;;) {
    const code = plainCode(await askForCode());
    const at = now();
    const step = stepOf(secret, code, at);
    if (step !== null) return step;
    const ahead = aheadOf(secret, code, at);
    const clocks = ahead === null ? `the clock of this machine says ${isoTime(at)}` : clockHint(ahead);
    const found = `The code is wrong: ${clocks}`;
    if (!process.stdin.isTTY) throw new OperatorError({ found, remedy: "run it again: no factor was added" }, 1);
    say(`${found}. Type the code that the app shows now.`);
  }
}
