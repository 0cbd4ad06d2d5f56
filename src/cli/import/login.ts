import { readFileSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { isEmail } from "../../auth/user.ts";
import { type Draft, MAX_BYTES, need, note, set } from "./draft.ts";

export const ONE_USER = "authserve has one user";
export const NO_PROVIDER = "there is no login at another provider: the user has a password, a passkey or both";
export const OWN_PAGE = "the login page of authserve has nothing of this kind";
export const OTHER_FILE = "import that file as well";
export const LOGGING = "see LOG_LEVEL and LOG_FORMAT in docs/reference/settings.md";
export const REDIS = "see REDIS_HOST and the settings after it in docs/reference/settings.md";

/** Lines of a file that the configuration names, if it can be read from here. */
export function linesBeside(file: string, name: string): string[] | null {
  try {
    const path = resolve(dirname(file), name);
    const found = statSync(path);
    // A pipe or a device may never end.
    if (!found.isFile() || found.size > MAX_BYTES) return null;
    return readFileSync(path, "utf8")
      .split("\n")
      .map((line) => line.trim())
      .filter(Boolean);
  } catch {
    return null;
  }
}

/** Carries over the first user, as `name:hash`, and names all others. A name that is no address is of `domain`. */
export function setUser(draft: Draft, users: readonly string[], what: string, domain: string | undefined): void {
  const [first, ...others] = users.map((user) => user.split(":"));
  const [name = "", hash = "", code] = first ?? [];
  if (name === "") return;
  const email = isEmail(name) ? name : `${name.toLowerCase()}@${domain ?? ""}`;
  if (isEmail(email)) set(draft, "DEMO_EMAIL", email, `${what}: ${name}`);
  if (isEmail(email) && email !== name) note(draft, `${what}: ${name}`, `logs in as ${email}`);
  // Tinyauth reads $$ as $, also where no Docker Compose has replaced it.
  set(draft, "DEMO_PASSWORD", hash.replaceAll("$$", "$"), `${what}: password of ${name}`);
  if (code !== undefined)
    note(draft, `${what}: one-time codes of ${name}`, "add an authenticator app with authserve factors add-totp");
  for (const [other = ""] of others) note(draft, `${what}: ${other}`, ONE_USER);
}

/** Carries over the first of the addresses that may log in, and names all others. */
export function setEmails(draft: Draft, emails: readonly string[], what: string): void {
  const [first, ...others] = emails;
  if (first === undefined) return;
  if (isEmail(first) && !draft.env.has("DEMO_EMAIL")) set(draft, "DEMO_EMAIL", first, what);
  else if (draft.env.get("DEMO_EMAIL")?.value !== first) note(draft, `${what}: ${first}`, ONE_USER);
  for (const other of others) note(draft, `${what}: ${other}`, ONE_USER);
}

/** Sets how long a session lasts without use, and since its login. */
export function setLifetime(draft: Draft, what: string, seconds: number, longestSeconds = seconds): void {
  set(draft, "JWT_TTL", `${seconds}s`, what);
  set(draft, "SESSION_MAX_AGE", `${longestSeconds}s`, what);
}

/** Adds lines for what every server needs and no other product has. */
export function needServer(draft: Draft): void {
  need(draft, "JWT_SECRET", "openssl rand -base64 48");
  need(draft, "DEMO_EMAIL", "the e-mail address of the user");
  need(draft, "DEMO_PASSWORD", "authserve hash-password");
}

/** Adds lines for what a server behind a proxy needs. */
export function needProxy(draft: Draft): void {
  needServer(draft);
  need(draft, "PUBLIC_URL", "the https address of the login page, e.g. https://auth.example.com");
  need(draft, "TRUSTED_PROXIES", "the addresses of the proxy, e.g. 127.0.0.1,::1");
}
