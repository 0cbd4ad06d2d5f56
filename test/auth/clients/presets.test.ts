import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { SCOPES } from "../../../src/auth/clients/client.ts";
import { addressIn } from "../../../src/auth/clients/preset.ts";
import { APP_PRESET_NAMES, loadAppPreset } from "../../../src/auth/clients/preset-files.ts";
import { redirectFault } from "../../../src/auth/clients/redirects.ts";

suite("the preset of an app", () => {
  for (const name of APP_PRESET_NAMES)
    test(`${name} has addresses that may be registered, known scopes, sources and short steps`, () => {
      const { redirects, backchannel, asked, scopes, isPublic, pkce, source, steps } = loadAppPreset(name);
      const addresses = redirects.map((path) => addressIn("https://app.example.com/sub/", path));
      assert.ok(addresses.length > 0);
      assert.deepEqual(
        addresses.map(redirectFault),
        addresses.map(() => null),
      );
      assert.ok(scopes.includes("openid") && scopes.every((scope) => SCOPES.includes(scope)));
      assert.ok(pkce || !isPublic);
      assert.match(backchannel?.path ?? "/", /^\//);
      assert.ok(backchannel === undefined || asked === undefined);
      for (const page of [source, backchannel?.source ?? asked ?? source])
        assert.equal(new URL(page).protocol, "https:");
      assert.ok(steps.length >= 1 && steps.length <= 3 && steps.every((step) => step.length <= 100));
    });
});

test("an address is made of the one of the app with or without a final slash, and whole ones stay", () => {
  assert.equal(addressIn("https://a.example.com", "/x"), "https://a.example.com/x");
  assert.equal(addressIn("https://a.example.com/sub/", "/x"), "https://a.example.com/sub/x");
  assert.equal(addressIn("https://a.example.com:8006/", ""), "https://a.example.com:8006");
  assert.equal(addressIn("https://a.example.com", "app.immich:///oauth-callback"), "app.immich:///oauth-callback");
});
