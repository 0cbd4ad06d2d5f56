/** For how long an app shows a code. */
export const STEP_SECONDS = 30;
const CLOCK_SECONDS = 20 * 60;

/** A code as apps show it, without spaces. */
export const isTotpCode = (text: string) => /^[0-9]{6}$/.test(text);

/** A secret as {@link loadTotp} makes it. */
export const isTotpSecret = (text: string) => /^[A-Z2-7]{32}$/.test(text);

/** Loads TOTP (RFC 6238) with 6 digits, steps of 30 seconds and SHA-1, which all apps have. */
export async function loadTotp() {
  const { generateSecret, generateURI, verifySync } = await import("./otplib.ts");

  function find(secret: string, token: string, now: number, epochTolerance: number) {
    if (!isTotpCode(token)) return null;
    const found = verifySync({ secret, token, epoch: Math.floor(now / 1000), epochTolerance });
    return found.valid && "timeStep" in found ? found : null;
  }

  return {
    /** A new secret of 160 bits in Base32. */
    newSecret: () => generateSecret({ length: 20 }),
    /** The `otpauth:` URI of a secret, which apps read from a QR code. */
    uriOf: (secret: string, issuer: string, account: string) =>
      // A colon separates the two in the label, so that an IPv6 address as the issuer would be cut.
      generateURI({ secret, issuer: issuer.replaceAll(":", "."), label: account.replaceAll(":", ".") }),
    /**
     * The time step of a code: that of `now`, or the one before or after it. Null if the text is no code of such a
     * step. `now` is in Unix milliseconds.
     */
    stepOf: (secret: string, code: string, now: number) => find(secret, code, now, STEP_SECONDS)?.timeStep ?? null,
    /**
     * By how many seconds the clock of the app that showed a code is ahead of `now`, in whole steps. Null if the text
     * is no code of a step within 20 minutes.
     */
    aheadOf(secret: string, code: string, now: number): number | null {
      const found = find(secret, code, now, CLOCK_SECONDS);
      return found && found.delta * STEP_SECONDS;
    },
  };
}

/** What a code tells of the clocks, as the end of a sentence. `ahead` is what `aheadOf` returns. */
export function clockHint(ahead: number): string {
  const minutes = Math.round(Math.abs(ahead) / 6) / 10;
  const how = ahead > 0 ? "ahead of" : "behind";
  return `the clock of the app is about ${minutes} min ${how} that of this machine`;
}

/** What TOTP keeps of a factor, as JSON. */
export const totpDataOf = (secret: string) => JSON.stringify({ secret });

/** The secret in what {@link totpDataOf} has made. */
export const totpSecretOf = (data: string) => (JSON.parse(data) as { secret: string }).secret;
