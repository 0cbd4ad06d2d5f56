import { randomBytes, randomInt } from "node:crypto";

/** A delivery as a provider sends it, before it is signed. */
export interface Sample {
  contentType: string;
  /** Names are in lower case. */
  headers: Readonly<Record<string, string>>;
  body: string;
}

/** What a template is filled with. `now` is in Unix milliseconds. */
export interface SampleEvent {
  id: string;
  type: string;
  now: number;
}

/** How the deliveries of one provider look. */
export interface Template {
  /** The type of its event if none is asked for. */
  type: string;
  /** Makes an id in the provider's style. Absent if a delivery has no id. */
  newId?: () => string;
  headers?: (event: SampleEvent) => Record<string, string>;
  content:
    | { json: (event: SampleEvent) => unknown }
    | { form: (event: SampleEvent) => Record<string, string> }
    /** The fields of `multipart/form-data`. */
    | { multipart: (event: SampleEvent) => Record<string, string> }
    | { isEmpty: true };
  /** The content of samples of other types. */
  others?: Readonly<Record<string, Template["content"]>>;
}

const DIGITS = "0123456789";
const UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const LOWER = "abcdefghijklmnopqrstuvwxyz";
const CROCKFORD = "0123456789abcdefghjkmnpqrstvwxyz";

function randomText(length: number, characters: string): string {
  return Array.from({ length }, () => characters[randomInt(characters.length)]).join("");
}

export const base62 = (length: number): string => randomText(length, DIGITS + UPPER + LOWER);
export const upperBase36 = (length: number): string => randomText(length, DIGITS + UPPER);

/** A number of so many digits, at most 15: more would not be a safe integer. */
export const integer = (length: number): number => Number(randomText(1, "123456789") + randomText(length - 1, DIGITS));

/** Hexadecimal digits. `length` is even. */
export const hex = (length: number): string => randomBytes(length / 2).toString("hex");

/** Base64url without padding. */
export const base64url = (bytes: number): string => randomBytes(bytes).toString("base64url");

/** A ULID in lower case, of the years 2025 to 2027. */
export const ulid = (): string => `01k${randomText(23, CROCKFORD)}`;

/** The id of a message of Svix and of Standard Webhooks. */
export const messageId = (): string => `msg_${base62(27)}`;

/** Unix milliseconds in seconds. */
export const seconds = (ms: number): number => Math.floor(ms / 1000);

/** Unix milliseconds as `2026-01-31T12:00:00.000Z`. */
export const iso = (ms: number): string => new Date(ms).toISOString();

/** Unix milliseconds as `2026-01-31T12:00:00`, in UTC. */
export const isoSeconds = (ms: number): string => iso(ms).slice(0, 19);
