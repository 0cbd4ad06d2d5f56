import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { readServerSettings } from "../../src/config/server-settings.ts";
import { SettingsError } from "../../src/errors.ts";
import { REQUIRED } from "./environment.ts";

const PUBLIC_URL = "https://login.example.net";

suite("settings of passkeys", () => {
  for (const [what, settings, fault] of [
    ["another address", { PASSKEY_RP_ID: "auth.example.com" }, null],
    [
      "five names with many suffixes",
      {
        PASSKEY_ORIGINS:
          "https://a.example.com,https://example.co.uk,https://one.com,https://two.com:8443,https://three.com,https://four.com",
      },
      null,
    ],
    [
      "six names",
      { PASSKEY_ORIGINS: "https://one.com,https://two.com,https://three.com,https://four.com,https://five.com" },
      /have 6 names in front of a public suffix, and browsers take 5/,
    ],
    ["a public suffix", { PASSKEY_RP_ID: "co.uk" }, /PASSKEY_RP_ID is a public suffix/],
    ["a private suffix", { PASSKEY_RP_ID: "github.io" }, /PASSKEY_RP_ID is a public suffix/],
    ["an address", { PASSKEY_RP_ID: "192.0.2.1" }, /PASSKEY_RP_ID is not usable: expected a domain/],
    ["a URL", { PASSKEY_RP_ID: "https://auth.example.com" }, /PASSKEY_RP_ID is not usable: expected a domain/],
    [
      "an origin with a path",
      { PASSKEY_ORIGINS: "https://example.com/login" },
      /PASSKEY_ORIGINS is not usable: expected/,
    ],
    [
      "no PUBLIC_URL",
      { PUBLIC_URL: undefined, PASSKEY_RP_ID: "example.com" },
      /PASSKEY_RP_ID is set without PUBLIC_URL/,
    ],
  ] as const)
    test(`${what} ${fault === null ? "is accepted" : "is refused"}`, async () => {
      const read = () => readServerSettings({ ...REQUIRED, PUBLIC_URL, ...settings });
      if (fault === null) await read();
      else await assert.rejects(read, (error) => error instanceof SettingsError && fault.test(error.message));
    });
});
