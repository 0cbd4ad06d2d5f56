import { hash, randomBytes } from "node:crypto";

const BYTES = 32;
const FORM = /^[\w-]{43}$/;

/** Makes the random value of a link of `people invite`, or of the cookie of the browser that opens it: 256 bits. */
export const newInvitationKey = (): string => randomBytes(BYTES).toString("base64url");

/** The digest under which the store has such a value. Null: the text has not its form, and needs no look-up. */
export const digestOfInvitationKey = (text: string): string | null => (FORM.test(text) ? hash("sha256", text) : null);
