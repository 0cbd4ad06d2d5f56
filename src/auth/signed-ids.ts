import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

const digestOf = (secret: string, signed: readonly unknown[]) =>
  createHmac("sha256", secret).update(JSON.stringify(signed)).digest();

/** The signature of some values, in base64url. */
export const signatureOf = (secret: string, signed: readonly unknown[]) =>
  digestOf(secret, signed).toString("base64url");

/** Whether one of the secrets has signed these values. */
export function isSignature(secrets: readonly string[], signed: readonly unknown[], signature: string): boolean {
  const given = Buffer.from(signature, "base64url");
  return given.length === 32 && secrets.some((secret) => timingSafeEqual(digestOf(secret, signed), given));
}

const FORM = /^([A-Za-z0-9_-]{22,43})\.([1-9][0-9]{0,14})\.([A-Za-z0-9_-]{43})$/;

/**
 * Random ids that browsers keep in a cookie, with a time in Unix milliseconds: `ID.TIME.SIGNATURE`. They have 16 to 32
 * bytes. The first secret signs, and what is `signed` must differ for each kind of ids.
 */
export function createSignedIds(
  secrets: readonly string[],
  bytes: number,
  signed: (id: string, time: number) => readonly unknown[],
) {
  return {
    /** The value of the cookie for a new id, or for the id that the browser has. */
    issue(time: number, id = randomBytes(bytes).toString("base64url")) {
      return { id, value: `${id}.${time}.${signatureOf(secrets[0] as string, signed(id, time))}` };
    },
    /** The newest genuine id in these values whose time is accepted; null without one. */
    newest(values: readonly string[], accepts: (time: number) => boolean): { id: string; time: number } | null {
      const genuine = values.flatMap((value) => {
        const [, id = "", digits = "", signature = ""] = FORM.exec(value) ?? [];
        const time = Number(digits);
        return accepts(time) && isSignature(secrets, signed(id, time), signature) ? [{ id, time }] : [];
      });
      return genuine.sort((a, b) => b.time - a.time)[0] ?? null;
    },
  };
}
