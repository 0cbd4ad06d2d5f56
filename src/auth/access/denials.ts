import type { AccessRequest } from "./rules.ts";

/** What became of a request that a proxy asked about. */
export interface AccessOutcome {
  /** `login`: it needs a session, and has none. */
  decision: "allowed" | "denied" | "login";
  /** The number of the entry of `access` that decided. Null: none matched. */
  entry: number | null;
  /** Why it was denied. */
  code: string | null;
  /** The id of the user whose session let it pass. Null without one. */
  user: string | null;
  /** Whether that session is bound to its device, and the request proves it. */
  isBound: boolean;
  /** The name of the genuine token of a program. Null without one. */
  token: string | null;
  asked: AccessRequest;
  address: string;
}

/** A request that was denied. The time is Unix milliseconds. */
export interface Denial extends Pick<AccessOutcome, "entry" | "code" | "address" | "token"> {
  at: number;
  method: string;
  /** Null if no trusted proxy named it. */
  host: string | null;
  /** Without the query, and cut off. */
  path: string | null;
}

/** The method in logs if no trusted proxy named it. */
export const UNNAMED = "?";

const KEPT = 100;
const MAX_PATH_LENGTH = 200;

/** Keeps the newest denials of this server in memory. */
export function createDenials(now: () => number) {
  const denials: Denial[] = [];
  return {
    add({ entry, code, address, token, asked: { place, method } }: AccessOutcome): void {
      const path = place?.path.slice(0, MAX_PATH_LENGTH) ?? null;
      denials.unshift({
        at: now(),
        entry,
        code,
        address,
        token,
        method: method ?? UNNAMED,
        host: place?.host ?? null,
        path,
      });
      denials.length = Math.min(denials.length, KEPT);
    },
    /** The newest first. */
    list: (): readonly Denial[] => denials,
  };
}
