import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { readConfigFile } from "../../../src/config/file/config-file.ts";
import { ConfigFileError } from "../../../src/config/file/errors.ts";
import type { HmacScheme } from "../../../src/webhook/schemes.ts";
import { workingDir } from "../../helpers/working-dir.ts";

const dir = workingDir();
const file = join(dir, "authserve.yaml");

const ENVIRONMENT = {
  SECRET: "a secret of the tests",
  OTHER: "another secret of the tests",
  HEX: "00112233445566778899",
};

function read(yaml: string | Buffer, environment: Record<string, string> = {}) {
  writeFileSync(file, yaml);
  return readConfigFile({ CONFIG_FILE: file, ...ENVIRONMENT, ...environment });
}

/** The one source of a file. */
function sourceIn(entry: string) {
  const sources = read(`sources:\n  shop: ${entry}\n`)?.sources ?? [];
  assert.equal(sources.length, 1);
  const [source] = sources;
  assert.ok(source);
  return source;
}

/** The lines that a file is refused with, without its path. */
function faults(yaml: string | Buffer, environment?: Record<string, string>): string[] {
  try {
    read(yaml, environment);
  } catch (error) {
    assert.ok(error instanceof ConfigFileError, String(error));
    assert.ok(error.lines.every((line) => line.startsWith(`${file}:`)));
    return error.lines.map((line) => line.slice(file.length + 1));
  }
  throw new Error("the file was accepted");
}

/** The faults of a source, without their positions. */
const faultsOf = (entry: string) =>
  faults(`sources:\n  shop: ${entry}\n`).map((line) => line.replace(/^\d+:\d+ sources\.shop\.?/, ""));

suite("a source with a preset", () => {
  test("has what the preset says", () => {
    const { preset, path, schemes, id, type, bodyLimitBytes, contentTypes, isEnvelope } = sourceIn(
      "{ preset: github, secrets: [env:SECRET] }",
    );
    assert.deepEqual([preset, path, isEnvelope], ["github", "/webhook/shop", false]);
    assert.deepEqual([id, type], [["header:x-github-delivery"], ["header:x-github-event"]]);
    assert.deepEqual(contentTypes, ["application/json", "application/x-www-form-urlencoded"]);
    assert.equal(bodyLimitBytes, 25 * 1024 * 1024);
    assert.equal(schemes.length, 1);
    assert.equal(sourceIn("{ preset: stripe, secrets: [env:SECRET] }").isEnvelope, true);
  });

  test("has what its own keys say instead", () => {
    writeFileSync(join(dir, "secret"), "a secret in a file\n");
    const source = sourceIn(`
    preset: github
    path: /hooks/github
    secrets: [env:SECRET, file:secret]
    id: header:X-Own-Id
    type: body:a.b
    tolerance: 10s
    dedupe: id
    contentTypes: [Text/Plain, "*/*"]
    bodyLimit: 2k
    allowedAddresses: [192.0.2.0/24, "::1"]
    addressMode: watch`);
    const { schemes: _, allowedAddresses, ...rest } = source;
    assert.deepEqual(rest, {
      name: "shop",
      path: "/hooks/github",
      preset: "github",
      secrets: [
        { name: "env:SECRET", value: ENVIRONMENT.SECRET },
        { name: "file:secret", value: "a secret in a file" },
      ],
      toleranceSeconds: 10,
      id: ["header:x-own-id", "header:x-github-delivery"],
      type: ["body:a.b", "header:x-github-event"],
      dedupe: "id",
      contentTypes: ["text/plain", "*/*"],
      isEnvelope: false,
      addressMode: "watch",
      bodyLimitBytes: 2048,
    });
    assert.equal(allowedAddresses?.check("192.0.2.9"), true);
    assert.equal(allowedAddresses?.check("192.0.3.9"), false);
  });
});

suite("verify", () => {
  const DEFAULTS: HmacScheme = {
    type: "hmac",
    signature: { headers: ["x-sig"] },
    format: "bare",
    algorithm: "sha256",
    encodings: ["hex"],
    signed: "{body}",
    key: "utf8",
  };

  for (const [what, verify, changes] of [
    ["has defaults", "header: X-Sig", {}],
    ["takes algorithm", "header: x-sig, algorithm: sha512", { algorithm: "sha512" }],
    ["takes encoding", "header: x-sig, encoding: base64url", { encodings: ["base64url"] }],
    ["takes prefix", 'header: x-sig, prefix: "v1="', { label: "v1=" }],
    ["takes format and label", "header: x-sig, format: list, label: v1", { format: "list", label: "v1" }],
    ["takes signed", 'header: x-sig, signed: "{method} {header:X}{body}"', { signed: "{method} {header:X}{body}" }],
    [
      "takes a timestamp in a header",
      'header: x-sig, signed: "{timestamp}.{body}", timestamp: { header: X-Time, unit: iso }',
      { signed: "{timestamp}.{body}", timestamp: { header: "x-time", unit: "iso" } },
    ],
    [
      "takes a timestamp in a pair",
      'header: x-sig, format: pairs, label: s, signed: "{timestamp}{body}", timestamp: { pair: t }',
      { format: "pairs", label: "s", signed: "{timestamp}{body}", timestamp: { pair: "t", unit: "s" } },
    ],
    ["takes key", "header: x-sig, key: whsec", { key: "whsec" }],
  ] as const) {
    test(what, () => {
      const { preset, schemes } = sourceIn(`{ verify: { ${verify} }, secrets: [env:SECRET] }`);
      assert.deepEqual([preset, schemes], [null, [{ ...DEFAULTS, ...changes }]]);
    });
  }

  test("takes tolerance", () => {
    assert.equal(sourceIn("{ verify: { header: a, tolerance: 2m }, secrets: [env:SECRET] }").toleranceSeconds, 120);
  });

  test("takes a token and Basic authentication", () => {
    const token = sourceIn('{ verify: { type: token, header: X-Token, prefix: "Bearer " }, secrets: [env:SECRET] }');
    assert.deepEqual(token.schemes, [{ type: "token", header: "x-token", label: "Bearer " }]);
    writeFileSync(join(dir, "basic"), "user:a long password");
    assert.deepEqual(sourceIn("{ verify: { type: basic }, secrets: [file:basic] }").schemes, [{ type: "basic" }]);
  });

  for (const [verify, fault] of [
    ["{ prefix: a }", /^verify: header is missing/],
    ["{ header: a, prefix: a, format: pairs, label: a }", /^verify\.prefix: found beside format/],
    ["{ header: a, format: pairs }", /^verify\.format: label is missing/],
    ["{ header: a, label: a }", /^verify\.label: found without format/],
    ['{ header: a, signed: "{timestamp}{body}" }', /^verify\.signed: found \{timestamp\}/],
    ["{ header: a, timestamp: { header: t } }", /^verify\.timestamp: found a time that is not signed/],
    ['{ header: a, signed: "{timestamp}", timestamp: {} }', /^verify\.timestamp: found both or neither/],
    ['{ header: a, signed: "{timestamp}", timestamp: { pair: t } }', /^verify\.timestamp\.pair: found without format/],
    ['{ header: a, signed: "{boddy}" }', /^verify\.signed: found "\{boddy\}", expected text with \{body\}/],
    ["{ type: basic, header: a }", /^verify\.header: found beside type basic/],
    ["{ type: token, header: a, key: hex }", /^verify\.key: found beside type token/],
    ["{ type: basic }", /^secrets\.0: found env:SECRET, .* expected user:password$/],
    ["{ header: a, key: hex }", /^secrets\.0: found env:SECRET, .* expected hex$/],
    ['{ header: "a b" }', /^verify\.header: found "a b", expected the name of a header$/],
  ] as const) {
    test(`${verify} is refused`, () => {
      const [first = "", ...more] = faultsOf(`{ verify: ${verify}, secrets: [env:SECRET] }`);
      assert.match(first, fault);
      assert.deepEqual(more, []);
    });
  }
});

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
    ["a doubled key", "sources:\n  a: {}\n  a: {}\n", /^3:3 sources\.a: found a second time/],
    [
      "a doubled key of a source",
      "sources:\n  a: { path: /a, path: /b }\n",
      /^2:18 sources\.a\.path: found a second time/,
    ],
    ["two documents", "sources: {}\n---\nsources: {}\n", /a second document/],
    ["a list at the top", "- a\n", /^1:1 found a list/],
    ["text for sources", "sources: a\n", /^1:10 sources: found "a"/],
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

  test("may be two sources of one path", () => {
    const yaml =
      "sources:\n  a: { preset: github, path: /webhook/b, secrets: [env:SECRET] }\n  b: { preset: github, secrets: [env:SECRET] }\n";
    assert.deepEqual(faults(yaml), [
      "3:6 sources.b.path: found /webhook/b a second time, after a (line 2), expected another path",
    ]);
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

test("10,000 sources are read in seconds at most", () => {
  const lines = Array.from({ length: 10_000 }, (_, i) => `  s${i}: { preset: github, secrets: [env:SECRET] }\n`);
  const startedAt = performance.now();
  assert.equal(read(`sources:\n${lines.join("")}`)?.sources.length, 10_000);
  assert.ok(performance.now() - startedAt < 5000);
});
