import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { readServerSettings } from "../../src/config/server-settings.ts";
import { SettingsError } from "../../src/errors.ts";
import { REQUIRED } from "./environment.ts";

suite("COOKIE_DOMAIN", () => {
  for (const [PUBLIC_URL, COOKIE_DOMAIN, fault] of [
    ["https://auth.example.com", "example.com", null],
    ["https://example.com", "example.com", null],
    // As https://github.com/greenpau/caddy-security/issues/481 has it.
    ["https://auth.example.com", ".example.com", null],
    ["https://auth.example.co.uk", "example.co.uk", null],
    [undefined, "example.com", /without PUBLIC_URL/],
    ["http://127.0.0.1:3000", "example.com", /needs HTTPS/],
    ["https://auth.example.net", "example.com", /is not in COOKIE_DOMAIN/],
    ["https://authexample.com", "example.com", /is not in COOKIE_DOMAIN/],
    ["https://example.co.uk", "co.uk", /public suffix/],
    ["https://me.github.io", "github.io", /public suffix/],
  ] as const) {
    test(`${COOKIE_DOMAIN} with PUBLIC_URL ${PUBLIC_URL} is ${fault === null ? "accepted" : "refused"}`, async () => {
      const read = () => readServerSettings({ ...REQUIRED, ...(PUBLIC_URL && { PUBLIC_URL }), COOKIE_DOMAIN });
      if (fault === null) assert.equal((await read()).COOKIE_DOMAIN, COOKIE_DOMAIN.replace(/^\./, ""));
      else await assert.rejects(read, (error) => error instanceof SettingsError && fault.test(error.message));
    });
  }
});
