/** What the app of an authenticator needs, and what checks its codes. */
interface Totp {
  /** A new secret of 160 bits in Base32. */
  newSecret(): string;
  /** The `otpauth:` URI of a secret, which apps read from a QR code. */
  uriOf(secret: string, issuer: string, account: string): string;
  /**
   * The time step of a code: that of `now`, or the one before or after it. Null if the code is of no such step. `now`
   * is in Unix milliseconds.
   */
  stepOf(secret: string, code: string, now: number): number | null;
}

const STEP_SECONDS = 30;

/** A secret as {@link Totp} makes it. */
export const isTotpSecret = (text: string) => /^[A-Z2-7]{32}$/.test(text);

/** Loads TOTP (RFC 6238) with 6 digits, steps of 30 seconds and SHA-1, which all apps have. */
export async function loadTotp(): Promise<Totp> {
  const { generateSecret, generateURI, verifySync } = await import("otplib");
  return {
    newSecret: () => generateSecret({ length: 20 }),
    uriOf: (secret, issuer, account) => generateURI({ secret, issuer, label: account }),
    stepOf(secret, code, now) {
      const epoch = Math.floor(now / 1000);
      const found = verifySync({ secret, token: code, epoch, epochTolerance: STEP_SECONDS });
      return found.valid && "timeStep" in found ? found.timeStep : null;
    },
  };
}

/** What TOTP keeps of a factor, as JSON. */
export const totpDataOf = (secret: string) => JSON.stringify({ secret });

/** The secret in what {@link totpDataOf} has made. */
export const totpSecretOf = (data: string) => (JSON.parse(data) as { secret: string }).secret;
