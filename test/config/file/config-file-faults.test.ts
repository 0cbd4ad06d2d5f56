import assert from "node:assert/strict";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { readConfigFile } from "../../../src/config/file/config-file.ts";
import { parseYaml } from "../../../src/config/file/yaml-document.ts";
import { dir, ENVIRONMENT, faults, faultsOf, read } from "../../helpers/config-file.ts";
import { growsLinearly } from "../../helpers/growth.ts";
import { workingDir } from "../../helpers/working-dir.ts";

suite("a fault of the file", () => {
  test("has its line and column, what is expected and what was probably meant, and none hides another", () => {
    const yaml = `sources:
  one: { preset: strip, secrets: [env:SECRET] }
  two:
    preset: github
    secret: [env:SECRET]
  three: { verify: { header: a, algorithm: sha255, enc: hex }, secrets: [env:SECRET], path: no }
  Four: 4
sorces: {}
`;
    assert.deepEqual(
      faults(yaml).map((line) => line.replace(/, expected one of [^(]*/, ", … ").replace(/, expected a [^(]*$/, ", …")),
      [
        '2:18 sources.one.preset: found "strip", expected the name of a preset (did you mean stripe?)',
        "4:5 sources.two.secrets: missing, …",
        "5:5 sources.two.secret: unknown key, … (did you mean secrets?)",
        '6:44 sources.three.verify.algorithm: found "sha255", … (did you mean sha256?)',
        "6:52 sources.three.verify.enc: unknown key, … ",
        '6:93 sources.three.path: found "no", …',
        '7:3 sources.Four: found "Four", …',
        "7:9 sources.Four: found 4, …",
        "8:1 sorces: unknown key, … (did you mean sources?)",
      ],
    );
  });

  for (const [what, yaml, fault] of [
    ["a syntax error", "sources:\n  a: [\n", /^\d+:\d+ .*expected YAML 1\.2$/],
    ["a tab", "sources:\n\ta: 1\n", /^2:\d+ /],
    [
      "a doubled key",
      "sources:\n  a: {}\n  a: {}\n",
      /^3:3 sources\.a: found a second time, after line 2, expected once$/,
    ],
    [
      "a doubled key of a source",
      "sources:\n  a: { path: /a, path: /b }\n",
      /^2:18 sources\.a\.path: found a second time/,
    ],
    ["two documents", "sources: {}\n---\nsources: {}\n", /a second document/],
    ["a list at the top", "- a\n", /^1:1 found a list/],
    ["text for sources", "sources: a\n", /^1:10 sources: found "a"/],
    ["an alias of what it is in", "sources: &x\n  a: *x\n", /^2:6 sources\.a: found an alias of what it is in/],
    ["an alias of nothing", "sources:\n  a: *x\n", /^2:6 sources\.a: found an alias without an anchor before it/],
    [
      "a key with a line break",
      'sources:\n  a: { "b\\nc": 1, preset: github, secrets: [env:SECRET] }\n',
      /^2:8 sources\.a\.b\\u\{a\}c: unknown key/,
    ],
    [
      "one of several addresses",
      "sources:\n  a: { preset: github, secrets: [env:SECRET], allowedAddresses: [192.0.2.0/24, 192.0.2.999] }\n",
      /^2:80 sources\.a\.allowedAddresses\.1: found "192\.0\.2\.999"/,
    ],
    ["a key that is no text", "sources:\n  ? [a]\n  : 1\n", /a key that is no text/],
  ] as const) {
    test(`may be ${what}`, () =>
      assert.ok(
        faults(yaml).some((line) => fault.test(line)),
        faults(yaml).join(),
      ));
  }

  test("may be a file that is not UTF-8, missing or a directory", () => {
    assert.throws(() => read(Buffer.from([0xff, 0xfe])), /not UTF-8/);
    assert.throws(() => readConfigFile({ CONFIG_FILE: join(dir, "none.yaml") }), /cannot be read \(ENOENT\)/);
    assert.throws(() => readConfigFile({ CONFIG_FILE: dir }), /cannot be read \(EISDIR\)/);
  });

  test("is a warning if a source redacts and takes what cannot be redacted", () => {
    const warningsOf = (types: string) =>
      read(
        `sources:\n  a: { verify: { header: a }, secrets: [env:SECRET], contentTypes: [${types}], redact: [card] }\n`,
      )?.warnings;
    assert.match(
      warningsOf("application/json, text/xml, multipart/form-data")?.[0] ?? "",
      /redact: refuses deliveries of text\/xml, multipart\/form-data that are neither JSON nor an urlencoded form/,
    );
    assert.match(warningsOf('"*/*"')?.[0] ?? "", /redact: refuses deliveries of \*\/\* that/);
    assert.deepEqual(warningsOf("application/json, application/*+json, application/x-www-form-urlencoded"), []);
  });

  test("may be a member to redact that events are known by, or that no delivery has", () => {
    for (const [entry, fault] of [
      ["preset: stripe, redact: [data.card, id]", /redact: found a path that has body:id, by which events are known/],
      ['preset: stripe, redact: ["**.type"]', /redact: found a path that has body:type/],
      ["verify: { header: a }, redact: [id]", /redact: found a path that has body:id/],
      ["verify: { header: a }, contentTypes: [text/xml], redact: [Body]", /redact: found at a source of text\/xml/],
      ...["$.data.card", "data[0].card", "data[*].card", "/data/card", " data.card"].map(
        (path) => [`preset: stripe, redact: ["${path}"]`, /redact.*: found .*expected names with dots/] as const,
      ),
      ["preset: stripe, redact: [data..card]", /redact.*: found .*expected names with dots between them/],
      ["preset: stripe, redact: []", /redact: .*expected at least one path/],
    ] as const)
      assert.match(faultsOf(`{ ${entry}, secrets: [env:SECRET] }`).join(), fault);
  });

  test("of the shape of a source does not hide that a secret is missing", () => {
    assert.deepEqual(
      faults("sources:\n  a: { preset: githup, secrets: [env:NONE] }\n").map((line) => line.split(":")[1]),
      ["16 sources.a.preset", "34 sources.a.secrets.0"],
    );
  });

  test("may be a link that leads nowhere", () => {
    const folder = workingDir();
    symlinkSync(join(folder, "none"), join(folder, "authserve.yaml"));
    const before = process.cwd();
    process.chdir(folder);
    try {
      assert.throws(() => readConfigFile({}), /authserve\.yaml cannot be read \(ENOENT\)/);
    } finally {
      process.chdir(before);
    }
  });

  test("may be two sources of one path", () => {
    const yaml =
      "sources:\n  a: { preset: github, path: /webhook/b, secrets: [env:SECRET] }\n  b: { preset: github, secrets: [env:SECRET] }\n";
    assert.deepEqual(faults(yaml), [
      "3:6 sources.b.path: found /webhook/b a second time, after a (line 2), expected another path",
    ]);
    const inPath = "verify: { type: token, path: true }, secrets: [env:SECRET]";
    const both = `sources:\n  a: { path: /x, ${inPath} }\n  b: { path: /x/, ${inPath} }\n`;
    assert.match(faults(both).join(), /sources\.b\.path: found \/x\/… a second time, after a \(line 2\)/);
  });

  test("may be a method or a handshake at the path / by which browsers get to the login", () => {
    const entry = "path: /, secrets: [env:SECRET]";
    assert.deepEqual(faults(`sources:\n  a: { preset: messagebird, methods: [POST, PUT, GET], ${entry} }\n`), [
      "2:50 sources.a.methods.2: found GET at the path /, which leads to the login page, expected another method or path",
    ]);
    assert.deepEqual(faults(`sources:\n  a: { preset: nylas, handshake: true, ${entry} }\n`), [
      "2:46 sources.a.path: found / with a handshake by GET or HEAD, which leads to the login page, expected another path",
    ]);
    assert.equal(read(`sources:\n  a: { preset: messagebird, methods: [POST, PUT], ${entry} }\n`)?.sources.length, 1);
  });

  test("may be the name or the path of the environment's source", () => {
    const yaml = (name: string, path: string) =>
      `sources:\n  ${name}: { preset: github, path: ${path}, secrets: [env:SECRET] }\n`;
    const environment = { WEBHOOK_SECRET: "the secret of the default source" };
    assert.match(faults(yaml("default", "/a"), environment).join(), /^2:3 sources\.default: .* WEBHOOK_SECRET/);
    assert.match(faults(yaml("a", "/webhook"), environment).join(), /after default \(the environment\)/);
    assert.equal(read(yaml("default", "/webhook"))?.sources.length, 1);
  });
});

suite("a secret", () => {
  const LITERAL = "whsec_c2VjcmV0IHRoYXQgbm9ib2R5IG1heSBzZWU=";

  test("that is literal is refused, and shown nowhere", () => {
    for (const entry of [
      `{ preset: github, secrets: [${LITERAL}] }`,
      `{ preset: github, secrets: ${LITERAL} }`,
      `{ preset: github, secrets: [env:${LITERAL}] }`,
      `{ preset: github, secrets: { a: ${LITERAL} } }`,
      `{ preset: github, secrets: [!${LITERAL}] }`,
      `{ preset: github, secrets: [*${LITERAL}] }`,
      `{ preset: github, secrets: { ${LITERAL}: 1, ${LITERAL}: 2 } }`,
    ]) {
      const lines = faultsOf(entry);
      assert.ok(lines.length > 0);
      assert.equal(lines.join().includes("whsec_"), false, lines.join());
    }
    assert.match(
      faultsOf(`{ preset: github, secrets: [${LITERAL}] }`).join(),
      /a literal value, expected env:NAME or file:PATH/,
    );
  });

  test("that is not set is named only if its name looks like one", () => {
    const hidden = faultsOf("{ preset: github, secrets: [env:whsec_c2VjcmV0IHRoYXQ] }").join();
    assert.match(hidden, /found env: and a name in small letters, which is not set/);
  });

  test("must be there, and differ from the others and from those of tokens", () => {
    assert.match(faultsOf("{ preset: github, secrets: [env:NONE] }").join(), /env:NONE, which is not set/);
    assert.match(
      faultsOf("{ preset: github, secrets: [file:none] }").join(),
      /file:none, which cannot be read \(ENOENT\)/,
    );
    assert.match(
      faultsOf("{ preset: github, secrets: [env:SECRET, env:SECRET] }").join(),
      /^secrets\.1: found the same secret/,
    );
    assert.match(faultsOf("{ preset: github, secrets: [] }").join(), /at least one secret/);
    const yaml = "sources:\n  a: { preset: github, secrets: [env:SECRET] }\n";
    assert.match(faults(yaml, { JWT_SECRET: ENVIRONMENT.SECRET }).join(), /also a secret of tokens/);
  });

  test("of two sources is warned of, and refused where the handshake of one signs what anybody sends", () => {
    const two = (one: string, other: string) => `sources:\n  a: ${one}\n  b: ${other}\n`;
    const github = "{ preset: github, secrets: [env:SECRET] }";
    const x = "{ preset: x, secrets: [env:SECRET], handshake: true }";
    const warnings = read(two(github, "{ preset: shopify, secrets: [env:OTHER, env:SECRET] }"))?.warnings;
    assert.match(
      warnings?.join() ?? "",
      /:3:\d+ sources\.b\.secrets\.1: env:SECRET is also a secret of a: use another/,
    );
    assert.equal(warnings?.length, 1);
    for (const yaml of [two(github, x), two(x, github)]) {
      assert.match(
        faults(yaml).join(),
        /^3:\d+ sources\.b\.secrets\.0: found a secret of a, .* of [ab] signs what anybody/,
      );
    }
    assert.equal(read(two(x, x))?.warnings.length, 1, "each refuses what the other signs");
    const ofDefault = { WEBHOOK_SECRET: ENVIRONMENT.SECRET };
    assert.match(faults(`sources:\n  a: ${x}\n`, ofDefault).join(), /found a secret of default, .* of a signs/);
    assert.equal(read(`sources:\n  a: ${github}\n`, ofDefault)?.warnings.length, 1);
  });

  test("is not what Braintree's handshake gives to anybody", () => {
    const token = "handshake: { token: env:SECRET }";
    const yaml = `sources:\n  a: { preset: braintree, secrets: [env:SECRET], ${token} }\n`;
    assert.match(faults(yaml).join(), /sources\.a\.handshake\.token: found a secret, expected the public key/);
  });

  test("that is weak is warned of, with its place and without its value", () => {
    const warnings = read("sources:\n  a: { preset: github, secrets: [env:SHORT] }\n", { SHORT: "tiny" })?.warnings;
    assert.equal(warnings?.length, 1);
    assert.match(warnings?.[0] ?? "", /authserve\.yaml:2:34 sources\.a\.secrets\.0: env:SHORT is shorter than 16/);
    assert.equal(warnings?.[0]?.includes("tiny"), false);
  });
});

test("a file may be empty, have a byte order mark and comments, and use aliases", () => {
  for (const yaml of ["", "# nothing\n", "sources:\n", "\ufeffsources: {}\n"])
    assert.deepEqual(read(yaml)?.sources, []);
  const shared =
    "sources:\n  a: { verify: &v { header: x }, secrets: &s [env:SECRET] }\n  b: { verify: *v, secrets: *s }\n";
  assert.equal(read(shared)?.sources.length, 2);
});

test("a source may have the name of a member that every object has", () => {
  const names = ["constructor", "prototype", "tostring"];
  const lines = names.map((name) => `  ${name}: { preset: github, secrets: [env:SECRET] }\n`);
  assert.deepEqual(
    read(`sources:\n${lines.join("")}`)?.sources.map(({ name }) => name),
    names,
  );
  assert.match(faults("sources:\n  __proto__: { preset: github, secrets: [env:SECRET] }\n").join(), /expected a name/);
});

test("aliases of aliases cannot fill the memory", () => {
  const levels = Array.from({ length: 9 }, (_, level) => {
    const below = level === 0 ? "x" : `*l${level - 1}`;
    return `  l${level}: &l${level} [${Array(9).fill(below).join(", ")}]\n`;
  });
  assert.match(faults(`sources:\n${levels.join("")}`).join("\n"), /too many aliases/);
});

test("the time to read aliases grows with their number, not with its square", () => {
  const first = "  s: { verify: &v { header: x }, secrets: &s [env:SECRET] }\n";
  growsLinearly(250, (aliases) => {
    const lines = Array.from({ length: aliases }, (_, i) => `  s${i}: { verify: *v, secrets: *s }\n`);
    const text = `sources:\n${first}${lines.join("")}`;
    return () => assert.equal(read(text)?.sources.length, aliases + 1);
  });
});

test("the time to find the places of faults grows with their number, not with its square", () => {
  // Few, because a document that leaves the processor's caches takes longer for each key.
  growsLinearly(250, (keys) => {
    const names = Array.from({ length: keys }, (_, i) => `s${i}`);
    const document = parseYaml(names.map((name) => `${name}: 1\n`).join(""));
    return () => assert.ok(names.every((name) => document.offsetOf([name]) > 0));
  });
});

test("a name of digits is not read as a number", () => {
  const yaml = "sources:\n  007: { preset: github, secrets: [env:SECRET] }\n";
  assert.deepEqual(
    read(yaml)?.sources.map(({ name }) => name),
    ["007"],
  );
});

test("the time to read sources grows with their number, not with its square", () => {
  growsLinearly(250, (sources) => {
    const lines = Array.from({ length: sources }, (_, i) => `  s${i}: { preset: github, secrets: [env:SECRET] }\n`);
    const text = `sources:\n${lines.join("")}`;
    return () => assert.equal(read(text)?.sources.length, sources);
  });
});
