import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { dir, faults, read } from "../../helpers/config-file.ts";
import { PASSWORD_HASH } from "../../helpers/credentials.ts";

const ADA = "  ada: { email: ada@example.com, owner: true }\n";
const ENVIRONMENT = { HASH: PASSWORD_HASH, BAD_HASH: "not a hash 71", DEMO_EMAIL: "ada@example.com" };

const peopleIn = (entries: string, environment: Record<string, string> = {}) =>
  read(`people:\n${entries}`, { ...ENVIRONMENT, ...environment })?.people ?? [];
const faultsOf = (entries: string, environment: Record<string, string> = {}) =>
  faults(`people:\n${entries}`, { ...ENVIRONMENT, ...environment });
const warningsOf = (yaml: string, environment: Record<string, string> = {}) =>
  read(yaml, { ...ENVIRONMENT, ...environment })?.warnings ?? [];

suite("people in the configuration file", () => {
  test("are nobody without the key, and a file with it has them in its order", () => {
    assert.equal(read("sources: {}\n")?.people, null);
    const entry =
      "  ben: { email: Ben@Example.com, name: ' Bén 😀 ', groups: [family, family, a.b_c-1], passwordHash: env:HASH }\n";
    const [ben, ada, ...others] = peopleIn(entry + ADA);
    assert.deepEqual(others, []);
    assert.equal(ben?.passwordHash?.encoded, PASSWORD_HASH);
    assert.deepEqual(
      { ...ben, passwordHash: null },
      {
        name: "ben",
        email: "Ben@Example.com",
        displayName: "Bén 😀",
        groups: ["family", "a.b_c-1"],
        isOwner: false,
        passwordHash: null,
      },
    );
    assert.deepEqual(ada, {
      name: "ada",
      email: "ada@example.com",
      displayName: null,
      groups: [],
      isOwner: true,
      passwordHash: null,
    });
  });

  test("have a hash of a file, whose name hides it from handlers", () => {
    writeFileSync(join(dir, "hash"), `${PASSWORD_HASH}\n`);
    const [ada] = peopleIn(
      `  ada: { email: ada@example.com, owner: true, passwordHash: "file:${join(dir, "hash")}" }\n`,
    );
    assert.equal(ada?.passwordHash?.encoded, PASSWORD_HASH);
    const file = read(`people:\n${ADA}  ben: { email: b@example.com, passwordHash: env:HASH }\n`, ENVIRONMENT);
    assert.ok(file?.secretNames.includes("HASH"));
  });

  test("may have ids of digits, also as a YAML number, and of 32 characters", () => {
    const long = "a".repeat(32);
    const names = peopleIn(`${ADA}  7: { email: b@example.com }\n  ${long}: { email: c@example.com }\n`).map(
      ({ name }) => name,
    );
    assert.deepEqual(names.toSorted(), ["7", long, "ada"]);
  });

  for (const id of ["Ada", "a/b", "__proto__", '""', "a".repeat(33), "é", ".a", "a b", "constructor%"])
    test(`have no id ${id}`, () => {
      const found = faultsOf(`${ADA}  ${id}: { email: b@example.com }\n`);
      assert.match(found.join("\n"), /1 to 32 small letters, digits and \. _ -/);
      assert.equal(found.length, 1);
    });

  test("have one e-mail each, whatever its case", () => {
    const one = faultsOf(`${ADA}  ben: { email: ADA@Example.COM }\n`);
    assert.match(one.join(), /^3:17 people\.ben\.email: found the e-mail of ada, expected one of its own$/);
    const [outside] = faultsOf(`${ADA}  ben: { email: bén@example.com }\n`);
    assert.match(String(outside), /people\.ben\.email: .*expected an e-mail address/);
  });

  test("are at most ten, at least one, and have an owner", () => {
    const many = (count: number) =>
      ADA + Array.from({ length: count - 1 }, (_, n) => `  p${n}: { email: p${n}@example.com }\n`).join("");
    assert.equal(peopleIn(many(10)).length, 10);
    assert.match(faultsOf(many(11)).join(), /people: found 11 people, expected at most 10/);
    assert.match(faults("people: {}\n").join(), /people: found nobody, expected people, or leave it out/);
    assert.match(faultsOf("  ben: { email: b@example.com }\n").join(), /found no owner, expected owner: true/);
    assert.match(faultsOf("  ben: { email: b@example.com, owner: false }\n").join(), /found no owner/);
  });

  for (const [what, entry, expected] of [
    ["without an e-mail", "{ owner: true }", /people\.ada\.email/],
    [
      "with a name of control characters",
      '{ email: a@example.com, owner: true, name: "a\\nb" }',
      /name: .*expected a name/,
    ],
    [
      "with a group of another form",
      "{ email: a@example.com, owner: true, groups: [Family] }",
      /group of 1 to 32 small/,
    ],
    ["with an owner that is a text", "{ email: a@example.com, owner: yes please }", /owner: .*expected true or false/],
    ["with an unknown key", "{ email: a@example.com, owner: true, password: x }", /people\.ada\.password: .*unknown/],
    ["with a hash at a name that is not set", "{ email: a@example.com, passwordHash: env:NONE }", /NONE/],
  ] as const)
    test(`are refused ${what}`, () => {
      assert.match(faultsOf(`  ada: ${entry}\n`).join("\n"), expected);
    });

  test("have no hash in the file itself, and no bad one, and neither is ever shown", () => {
    const entry = (hash: string) => `  ada: { email: ada@example.com, owner: true, passwordHash: "${hash}" }\n`;
    for (const hash of [PASSWORD_HASH, "a literal 71"]) {
      const found = faultsOf(entry(hash)).join("\n");
      assert.match(found, /people\.ada\.passwordHash: .*env:NAME or file:PATH/);
      assert.ok(!found.includes(hash));
    }
    const bad = faultsOf(entry("env:BAD_HASH")).join("\n");
    assert.match(bad, /found env:BAD_HASH, whose value cannot be used/);
    assert.ok(!bad.includes("71"));
  });

  test("do not take the id of the person of the environment", () => {
    const found = faultsOf(`${ADA}  1: { email: ben@example.com }\n`);
    assert.match(found.join(), /people\.1: found the id of DEMO_USER_ID for another e-mail, expected another id/);
    assert.match(faultsOf(`${ADA}  me: { email: b@example.com }\n`, { DEMO_USER_ID: "me" }).join(), /people\.me/);
    assert.equal(peopleIn("  1: { email: ADA@example.com, owner: true }\n").length, 1, "who is that person");
  });

  test("that do not have DEMO_EMAIL are warned of: who has it logs in, too", () => {
    const warning = /people.*does not have the e-mail of DEMO_EMAIL: whoever has it can log in as an owner, too/;
    assert.match(warningsOf(`people:\n${ADA}`, { DEMO_EMAIL: "else@example.com" }).join(), warning);
    assert.deepEqual(warningsOf(`people:\n${ADA}`), []);
    assert.deepEqual(warningsOf(`people:\n${ADA}`, { DEMO_EMAIL: "Ada@Example.com" }), []);
  });
});

suite("access for people", () => {
  const access = (allow: string, people = `people:\n${ADA}  ben: { email: b@example.com, groups: [family] }\n`) =>
    `${people}access:\n  - { host: a.example.com, allow: [${allow}] }\n`;

  test("names those of the file", () => {
    const { access: rules } = read(access('"person:ben", "group:family"'), ENVIRONMENT) ?? {};
    assert.deepEqual(rules?.[0]?.allow, ["person:ben", "group:family"]);
  });

  test("names nobody else", () => {
    const found = faults(access('"person:eve"'), ENVIRONMENT);
    assert.match(found.join(), /access\.0\.allow: found person:eve, expected an id of people/);
    assert.match(faults(access('"person:ben"', ""), ENVIRONMENT).join(), /found person:ben, expected an id of people/);
    assert.match(
      faults(access('"person:Ben"'), ENVIRONMENT).join(),
      /expected session, token, person:ID or group:NAME/,
    );
  });

  test("of a group that nobody is in is warned of", () => {
    const [warning] = warningsOf(access('"group:famly"'));
    assert.match(String(warning), /names group:famly, and nobody of people is in that group/);
  });
});
