import { AppError } from "../../errors.ts";
import { coalesce } from "../../lib/coalesce.ts";
import { coarseNetwork } from "../../lib/network.ts";
import { digestOf, isWellFormed } from "./form.ts";
import { type TokenRecord, type TokenStore, USE_EVERY_MS } from "./store.ts";
import { createWrongTokens } from "./wrong-tokens.ts";

// Tokens that were right are still judged when their address has sent too many wrong ones.
const REMEMBERED = 256;

/** Creates the check of tokens of programs. It writes when each one was used, from time to time. */
export function createMachineTokens(store: TokenStore, now: () => number) {
  const find = coalesce(store.find);
  const wrong = createWrongTokens();
  /** Digests of tokens that were right, the oldest first. */
  const known = new Set<string>();
  /** When a use of each token was last written, also if that failed. */
  const written = new Map<string, number>();

  function remember(digest: string): void {
    if (known.has(digest)) return;
    const [oldest] = known;
    if (known.size >= REMEMBERED && oldest !== undefined) known.delete(oldest);
    known.add(digest);
  }

  function noteUse({ name, lastUsedAt }: TokenRecord, address: string, at: number): void {
    const last = Math.max(lastUsedAt ?? 0, written.get(name) ?? 0);
    if (at - last >= 0 && at - last < USE_EVERY_MS) return;
    if (written.size >= REMEMBERED) written.clear();
    written.set(name, at);
    // A full disk must refuse no request. `/readyz` tells of it.
    store.use(name, at, coarseNetwork(address)).catch(() => {});
  }

  function requireTurn(address: string, at: number): void {
    const waitMs = wrong.waitMs(address, at);
    if (waitMs > 0) throw new AppError("too_many_wrong_tokens", { retryAfterSeconds: Math.ceil(waitMs / 1000) });
  }

  return {
    /**
     * The record of a token. Throws `invalid_token` if it is unknown, expired or revoked, and `too_many_wrong_tokens`
     * after too many of them from one address.
     */
    async authenticate(token: string, address: string): Promise<TokenRecord> {
      const at = now();
      const digest = digestOf(token);
      const isKnown = known.has(digest);
      if (!isKnown) requireTurn(address, at);
      const record = isKnown || isWellFormed(token) ? await find(digest) : null;
      if (record !== null && !isExpired(record, at)) {
        remember(digest);
        noteUse(record, address, at);
        return record;
      }
      // Others may have come meanwhile.
      requireTurn(address, at);
      wrong.add(address, at);
      throw wrongToken();
    },
  };
}

/** Judges the tokens of programs. */
export type MachineTokens = ReturnType<typeof createMachineTokens>;

/** Whether a token has ended. */
function isExpired({ expiresAt }: Pick<TokenRecord, "expiresAt">, now: number): boolean {
  return expiresAt !== null && expiresAt <= now;
}

/** Creates the error for a token that does not count. */
export function wrongToken(): AppError {
  return new AppError("invalid_token", { headers: { "WWW-Authenticate": 'Bearer error="invalid_token"' } });
}

/** Creates the error for a genuine token without a scope (RFC 6750, 3.1). Null: no scope is enough. */
export function insufficientScope(scope: string | null): AppError {
  const named = scope === null ? "" : `, scope="${scope}"`;
  return new AppError("insufficient_scope", {
    headers: { "WWW-Authenticate": `Bearer error="insufficient_scope"${named}` },
  });
}
