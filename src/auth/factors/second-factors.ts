import { digestOfRecoveryCode, plainCode } from "./recovery-codes.ts";
import type { FactorStore, LoginMethod } from "./store.ts";
import { isTotpCode, loadTotp, totpSecretOf } from "./totp.ts";

/** How a code proved a login. */
type CodeMethod = Extract<LoginMethod, "totp" | "recovery_code">;

// A code is accepted for 90 seconds. A clock that is set back must not make it good again.
const USED_CODE_MS = 86_400_000;

/** Creates the check of codes. `now` is in Unix milliseconds. */
export function createSecondFactors(store: FactorStore, now: () => number) {
  async function useTotp(code: string): Promise<CodeMethod | null> {
    const factors = (await store.list()).filter(({ kind }) => kind === "totp");
    if (factors.length === 0) return null;
    const { stepOf } = await loadTotp();
    for (const { id, data } of factors) {
      const at = now();
      const step = stepOf(totpSecretOf(data), code, at);
      if (step === null) continue;
      // A factor that was removed meanwhile has no use.
      if ((await spendTotp(store, id, step, at)) && (await store.use(id, 0, at))) return "totp";
    }
    return null;
  }

  return {
    /** Whether a login needs more than the password. Throws `store_unavailable` if that cannot be known. */
    areNeeded: async () => (await store.list()).length > 0,
    /** Uses a code up. Null if it is wrong, or was used before. */
    async useCode(text: string): Promise<CodeMethod | null> {
      const code = plainCode(text);
      if (isTotpCode(code)) return useTotp(code);
      const digest = digestOfRecoveryCode(code);
      return digest !== null && (await store.spendRecoveryCode(digest)) ? "recovery_code" : null;
    },
    /** By how many seconds the app that showed a refused code is ahead. Null if none did within 20 minutes. */
    async aheadOf(text: string): Promise<number | null> {
      const code = plainCode(text);
      if (!isTotpCode(code)) return null;
      const { aheadOf } = await loadTotp();
      const apps = (await store.list()).filter(({ kind }) => kind === "totp");
      const found = apps.map(({ data }) => aheadOf(totpSecretOf(data), code, now()));
      return found.find((ahead) => ahead !== null) ?? null;
    },
  };
}

/** Asks for a second factor, and checks codes. */
export type SecondFactors = ReturnType<typeof createSecondFactors>;

/** Uses up the code of a step. Returns false if it was used before. */
export function spendTotp(store: Pick<FactorStore, "spend">, id: string, step: number, at: number): Promise<boolean> {
  return store.spend(`totp ${id} ${step}`, at + USED_CODE_MS, at);
}
