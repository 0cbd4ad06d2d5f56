import {
  addFactor,
  factorJson,
  factorName,
  renewRecoveryCodes,
  TOO_MANY_FACTORS,
  totpFactor,
} from "../auth/factors/manage.ts";
import { qrText } from "../auth/factors/qr-code.ts";
import { loadTotp } from "../auth/factors/totp.ts";
import { OperatorError } from "../errors.ts";
import { makeChange } from "./make-change.ts";
import { counted, printData, printJson, say, sayOrLog } from "./output.ts";
import { withStores } from "./stores.ts";
import { printTable } from "./table.ts";
import { timeFormat } from "./time.ts";

const NO_FACTORS = "There is no second factor: the password is enough.";

/** Prints the second factors, and how many recovery codes are left. */
export function runFactorsList({ utc, json }: { utc?: boolean; json?: boolean }): Promise<void> {
  return withStores(async ({ factors: store, now }) => {
    const [factors, recoveryCodesLeft] = await Promise.all([store.list(), store.recoveryCodesLeft()]);
    if (json) return printJson({ factors: factors.map(factorJson), recoveryCodesLeft });
    if (factors.length === 0) return say(NO_FACTORS);
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
  { all, json }: { all?: boolean; json?: boolean },
): Promise<void> {
  if (ids.length > 0 === (all === true))
    throw new OperatorError({ found: "No factor is named", remedy: "give ids of authserve factors list, or --all" });
  await withStores(async (stores) => {
    const store = stores.factors;
    const known = await store.list();
    const removed = await makeChange(stores, {
      action: "factor.remove",
      asked: { ids: all ? "all" : ids },
      make: () => store.remove(all ? "all" : ids),
      outcome: (gone) => (gone.length === 0 ? null : { removed: gone }),
    });
    if (json) printJson({ removed });
    for (const { id, kind, name } of known.filter(({ id }) => removed.includes(id)))
      sayOrLog({ event: "factor_removed", factor: id, kind, name }, `The factor ${name} is removed.`);
    if (removed.length > 0 && removed.length === known.length) say(NO_FACTORS);
    const unknown = ids.filter((id) => !removed.includes(id));
    if (unknown.length > 0) throw new OperatorError(`There is no factor ${unknown.join(", ")}`, 1);
    if (removed.length === 0 && !json) say(NO_FACTORS);
  });
}

/** Makes new recovery codes, and prints them this once. The earlier ones do not work any more. */
export function runFactorsRecoveryCodes({ json }: { json?: boolean }): Promise<void> {
  return withStores(async (stores) => {
    const store = stores.factors;
    if ((await store.list()).length === 0) {
      const remedy = "add a factor first, with authserve factors add-totp or on the page /account";
      throw new OperatorError({ found: "There is no second factor", remedy }, 1);
    }
    const codes = await makeChange(stores, {
      action: "factor.recovery_codes",
      asked: {},
      make: () => renewRecoveryCodes(store),
      outcome: ({ length }) => ({ codes: length }),
    });
    if (json) printJson(codes);
    else printCodes(codes);
    const line = { event: "recovery_codes_renewed" as const };
    sayOrLog(line, "Each code works once. They are shown this once, and the earlier ones do not work any more.");
  });
}

const printCodes = (codes: readonly string[]) => {
  for (const code of codes) printData(code);
};

/** Adds an authenticator app, and prints its QR code, its URI and the recovery codes this once. */
export function runFactorsAddTotp({ name = "", json }: { name?: string; json?: boolean }): Promise<void> {
  const more = ["DEMO_EMAIL", "PUBLIC_URL"] as const;
  return withStores(async (stores) => {
    const { factors: store, settings, now } = stores;
    const { newSecret, uriOf } = await loadTotp();
    const secret = newSecret();
    const totp = totpFactor(secret, factorName(name, "authenticator app"), now());
    const added = await makeChange(stores, {
      action: "factor.add",
      asked: { id: totp.id, kind: totp.kind, name: totp.name },
      make: () => addFactor(store, totp),
      outcome: (made) => (made === null ? null : {}),
    });
    if (added === null) throw new OperatorError(`No factor was added: ${TOO_MANY_FACTORS}`, 1);
    const { factor, recoveryCodes } = added;
    const { id, kind } = factor;
    const issuer = settings.PUBLIC_URL === undefined ? "authserve" : new URL(settings.PUBLIC_URL).hostname;
    const uri = uriOf(secret, issuer, settings.DEMO_EMAIL);
    if (json) printJson({ id, name: factor.name, uri, recoveryCodes });
    else {
      if (process.stdout.isTTY) printData(await qrText(uri));
      printData(uri);
      if (recoveryCodes !== null) printCodes(recoveryCodes);
    }
    const codes = recoveryCodes === null ? "" : " Keep the recovery codes: each works once in place of a code.";
    const words = `Read the QR code or the URI with the app. It is shown this once.${codes} If the app shows no code, run authserve factors remove ${id}.`;
    sayOrLog({ event: "factor_added", factor: id, kind, name: factor.name }, words);
  }, more);
}
