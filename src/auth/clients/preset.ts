import type { SCOPES } from "./client.ts";

/** How it is known. Of what was only read, nothing was run. */
type Evidence = "read in a guide" | "read in source" | "run in the tests";

/** What is known of an app, and who says so. */
export interface AppPreset {
  title: string;
  /** Where it may be answered: paths below the address of the app, or whole addresses. */
  redirects: readonly string[];
  /** It has no secret. */
  isPublic?: true;
  /** Whether it sends a challenge of PKCE. */
  pkce: boolean;
  /** What it asks for. */
  scopes: readonly (typeof SCOPES)[number][];
  /** What it does with the claims, if that is published. */
  claims?: string;
  /** Where it learns that a session has ended. Without this its own session goes on. */
  backchannel?: { path: string; evidence: Evidence; source: string };
  /** Where its people were asked for that. They have not made it. */
  asked?: string;
  evidence: Evidence;
  /** The page that says so. */
  source: string;
  /** What to enter in the app besides the issuer, the client id and the secret: at most three lines. */
  steps: readonly string[];
}

/** When a session in the app ends after that of the login page. */
export const endsOf = (backchannel: unknown): Ends => (backchannel ? "at once" : "with its own session");

export type Ends = "at once" | "with its own session";

/** How it is known when a session in the app ends, and the page that says so; null if no page says anything. */
export function evidenceOfEnd({ backchannel, asked }: Pick<AppPreset, "backchannel" | "asked">) {
  if (backchannel !== undefined) return { evidence: backchannel.evidence, source: backchannel.source };
  if (asked !== undefined) return { evidence: "asked for, not there", source: asked };
  return { evidence: "nothing known", source: null };
}

/** An address of an app by its preset. `url` may have a path, and a final `/`. */
export const addressIn = (url: string, path: string) =>
  path === "" || path.startsWith("/") ? url.replace(/\/$/, "") + path : path;
