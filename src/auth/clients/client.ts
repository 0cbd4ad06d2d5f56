import { type AllowedPerson, isAllowed } from "../access/rules.ts";
import type { Person } from "../people/people.ts";

/** An app that logs in through this service, by OpenID Connect. */
export interface Client {
  /** Its name in the configuration file, which is its `client_id`. */
  name: string;
  /** The app that it is, by its name in `presets`; null: none of them. */
  preset: string | null;
  /** Where it may be answered: compared exactly, but a loopback address may have any port (RFC 8252, 7.3). */
  redirects: readonly string[];
  /** What it proves itself with. Null: it is public, and must use PKCE. */
  secret: string | null;
  logout: {
    /** Where logout tokens are sent; null: nowhere. */
    backchannel: string | null;
    /** Where a browser may be led after a logout that the app began. */
    after: readonly string[];
  };
  /** Who may log in to it; null: everybody. */
  allow: readonly AllowedPerson[] | null;
  /** Groups and user name are only for a person whom the file does not have. */
  claims: {
    /** The value of `groups`. */
    groups: readonly string[];
    /** The value of `preferred_username`; the local part of the e-mail by default. */
    username: string | null;
    /** Whether the ID token has the claims of the scopes, too. */
    inIdToken: boolean;
  };
  /** Longer sessions than this need a new login; null: any. */
  sessionMaxAgeSeconds: number | null;
  /** Whether refresh tokens with `offline_access` outlive the session. */
  offline: "end" | "keep";
  /** When a person is asked whether to log in to it. */
  consent: "once" | "always" | "never";
  /** How its ID tokens are signed. */
  algorithm: "RS256" | "ES256";
}

/** Whether a person may log in to an app. */
export const mayLogInTo = ({ allow }: Pick<Client, "allow">, person: Pick<Person, "name" | "groups">) =>
  allow === null || isAllowed(allow, "session", person);

/** The scopes that are known. Others are ignored (OpenID Connect Core, 3.1.2.1). */
export const SCOPES = ["openid", "profile", "email", "groups", "offline_access"] as const;
