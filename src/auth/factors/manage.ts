import { hash } from "node:crypto";
import { trimSpace } from "../../lib/header-value.ts";
import { isoTime } from "../../lib/iso-time.ts";
import { digestOfRecoveryCode, newRecoveryCodes } from "./recovery-codes.ts";
import { type FactorRecord, type FactorStore, MAX_FACTORS, type NewFactor } from "./store.ts";
import { totpDataOf } from "./totp.ts";

const MAX_NAME_LENGTH = 64;

/** The name of a factor as it is kept: trimmed, without control characters, and of at most 64 characters. */
export function factorName(text: string, otherwise: string): string {
  const name = trimSpace(trimSpace(text.replaceAll(/[\p{C}\s]+/gu, " ")).slice(0, MAX_NAME_LENGTH));
  return name === "" ? otherwise : name;
}

/** A factor that was added, and the recovery codes if it is the first one. They are shown this once. */
interface AddedFactor {
  factor: NewFactor;
  recoveryCodes: string[] | null;
}

/** Why no factor was added. */
export const TOO_MANY_FACTORS = `there are ${MAX_FACTORS} factors already, or this one is among them`;

/**
 * Adds a factor. The first one comes with recovery codes, unless there are some. Returns null if there are too many, or
 * if this one is there already.
 */
export async function addFactor(store: FactorStore, factor: NewFactor): Promise<AddedFactor | null> {
  if (!(await store.add(factor))) return null;
  const hasCodes = (await store.recoveryCodesLeft()) > 0;
  return { factor, recoveryCodes: hasCodes ? null : await renewRecoveryCodes(store) };
}

/** The factor of a new secret of TOTP. Its id is that of the secret: a form that is sent twice adds one factor. */
export function totpFactor(secret: string, name: string, now: number): NewFactor {
  const id = hash("sha256", `TOTP ${secret}`).slice(0, 16);
  return { id, kind: "totp", name, data: totpDataOf(secret), counter: 0, createdAt: now };
}

/** Makes ten recovery codes in place of all others. They are in the result, and nowhere else. */
export async function renewRecoveryCodes(store: Pick<FactorStore, "setRecoveryCodes">): Promise<string[]> {
  const codes = newRecoveryCodes();
  await store.setRecoveryCodes(codes.map((code) => digestOfRecoveryCode(code) as string));
  return codes;
}

/** A factor as commands show it. */
export function factorJson({ id, kind, name, createdAt, lastUsedAt }: FactorRecord) {
  return { id, kind, name, createdAt: isoTime(createdAt), lastUsedAt: isoTime(lastUsedAt) };
}
