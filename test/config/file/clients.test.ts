import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { faults, read } from "../../helpers/config-file.ts";

const clientIn = (entry: string) => {
  const [client] = read(`clients:\n  photos: ${entry}\n`)?.clients ?? [];
  assert.ok(client);
  return client;
};

suite("a client with a preset", () => {
  test("has the redirects and the logout of the preset, at its own address", () => {
    const client = clientIn('{ preset: immich, url: "https://photos.example.com/", secret: env:SECRET }');
    assert.equal(client.preset, "immich");
    assert.deepEqual(client.redirects, [
      "https://photos.example.com/auth/login",
      "https://photos.example.com/user-settings",
      "app.immich:///oauth-callback",
    ]);
    assert.deepEqual(client.logout, {
      backchannel: "https://photos.example.com/api/oauth/backchannel-logout",
      after: [],
    });
  });

  test("has what the file says instead", () => {
    const client = clientIn(
      `{ preset: immich, url: "https://photos.example.com", secret: env:SECRET, logout: {},
         redirects: ["https://photos.example.com/other"], claims: { groups: [family] } }`,
    );
    assert.deepEqual(client.redirects, ["https://photos.example.com/other"]);
    assert.deepEqual(client.logout, { backchannel: null, after: [] });
    assert.deepEqual(client.claims.groups, ["family"]);
  });

  test("needs no secret if the app has none", () => {
    assert.equal(clientIn('{ preset: opencloud, url: "https://cloud.example.com" }').secret, null);
  });
});

suite("a client is refused", () => {
  const url = '"https://photos.example.com"';
  for (const [what, entry, expected] of [
    ["with an unknown preset", `{ preset: imich, url: ${url}, secret: env:SECRET }`, /preset.*did you mean immich\?/],
    ["with a preset but no url", "{ preset: immich, secret: env:SECRET }", /preset.*found without url/],
    [
      "with a url but no preset",
      `{ url: ${url}, redirects: [${url}], secret: env:SECRET }`,
      /url.*found without preset/,
    ],
    ["without addresses", "{ secret: env:SECRET }", /found neither redirects nor preset/],
    [
      "with a url that has a query",
      '{ preset: immich, url: "https://a.example.com/?a=b", secret: env:SECRET }',
      /query/,
    ],
    ["without a secret", `{ preset: immich, url: ${url} }`, /found neither secret nor public: true/],
  ] as const)
    test(what, () => {
      assert.match(faults(`clients:\n  photos: ${entry}\n`).join("\n"), expected);
    });
});
