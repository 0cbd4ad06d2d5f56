import { randomUUID } from "node:crypto";

/** How a user logs in: with the API, or with the form of the login page. */
export type LoginWay = "api" | "form";

const FORM_PREFIX = "form-";

/**
 * Creates the id of a session. It says whether a form opened the session, and it is in the store and in the signed
 * token.
 */
export function createSessionId(way: LoginWay): string {
  return way === "form" ? FORM_PREFIX + randomUUID() : randomUUID();
}

/** Whether a form opened the session. */
export const isOfForm = (sid: string) => sid.startsWith(FORM_PREFIX);
