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

const PEOPLE = `people:
  ada: { email: ada@example.com, owner: true }
  ben: { email: ben@example.com, groups: [family] }
`;
const withPeople = (entry: string) =>
  `${PEOPLE}clients:\n  photos: { redirects: ["https://photos.example.com"], secret: env:SECRET, ${entry} }\n`;
const warningsOf = (entry: string) =>
  (read(withPeople(entry), { DEMO_EMAIL: "ada@example.com" })?.warnings ?? []).map((line) =>
    line.replace(/^.*clients\.photos\.?/, ""),
  );

suite("a client beside people", () => {
  test("may be for some of them only, whom the file must have", () => {
    const allow = ["person:ada", "group:family"];
    const file = read(withPeople(`allow: [${allow}]`), { DEMO_EMAIL: "ada@example.com" });
    assert.deepEqual([file?.clients[0]?.allow, file?.warnings], [allow, []]);
    assert.deepEqual(warningsOf("allow: [group:kids]"), [
      "allow: names group:kids, and nobody of people is in that group",
    ]);
    for (const [entry, expected] of [
      ["allow: [person:eve]", "allow: found person:eve, expected an id of people"],
      ["allow: [session]", 'allow.0: found "session", expected person:ID or group:NAME'],
      ["allow: []", "allow: found an empty list, expected at least one person or group"],
    ] as const)
      assert.deepEqual(
        faults(withPeople(entry)).map((line) => line.replace(/^\S+ clients\.photos\./, "")),
        [expected],
      );
  });

  test("is warned of groups that they do not get, and must not name another person as one of them", () => {
    assert.match(warningsOf("claims: { groups: [admin] }").join(), /^claims: has groups or a username, which only/);
    assert.deepEqual(warningsOf("claims: { idToken: false }"), []);
    for (const [email, entry] of [
      ["Ben@else.example", "consent: never"],
      ["owner@example.com", "claims: { username: Ben }"],
    ] as const)
      assert.match(
        faults(withPeople(entry), { DEMO_EMAIL: email }).join(),
        /clients\.photos: found Ben as the user name of the person of DEMO_EMAIL, which is an id of people/,
      );
    assert.equal(read(withPeople("consent: never"), { DEMO_EMAIL: "ben@example.com" })?.clients.length, 1);
  });
});
