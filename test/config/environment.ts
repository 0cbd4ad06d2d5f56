import assert from "node:assert/strict";
import { readSettings } from "../../src/config/settings.ts";
import { SettingsError } from "../../src/errors.ts";

export const SECRET = {
  current: "3kX9vQ2mZ7pL4tR8wY1cB6nH5jD0sF-gA",
  previous: "Zq8Wm3Xe7Rt1Yu5Io9Pa2Sd6Fg4Hj0Kl-",
};

export const PASSWORD_HASH =
  "$argon2id$v=19$m=19456,t=2,p=1$c29tZXNhbHRzb21lc2FsdA$MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTI";

/** The settings that have no default. */
export const REQUIRED = {
  JWT_SECRET: SECRET.current,
  DEMO_EMAIL: "demo@example.com",
  DEMO_PASSWORD: PASSWORD_HASH,
};

/** Returns the faults of these settings. Asserts that there are some, and that the exit code is 2. */
export function problemsIn(environment: Record<string, string | undefined>): string[] {
  try {
    readSettings(environment);
  } catch (error) {
    assert.ok(error instanceof SettingsError, String(error));
    assert.equal(error.exitCode, 2);
    return error.faults.map(({ found, remedy }) => `${found}: ${remedy}`);
  }
  assert.fail("the settings were accepted");
}
