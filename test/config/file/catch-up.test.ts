import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { suite, test } from "node:test";
import { faultsOf, read, sourceIn } from "../../helpers/config-file.ts";

const HOOK = "https://api.github.com/repos/o/r/hooks/1";
const entry = (catchUp: string, preset = "github") =>
  `{ preset: ${preset}, secrets: [env:SECRET], catchUp: ${catchUp} }`;

suite("catchUp of a source", () => {
  test("has a token, the URL of the webhook, and defaults", () => {
    assert.deepEqual(sourceIn(entry(`{ token: env:OTHER, hook: "${HOOK}" }`)).catchUp, {
      token: "another secret of the tests",
      hook: HOOK,
      origin: "https://api.github.com",
      app: null,
      everyMs: null,
      windowMs: 3 * 86_400_000,
      maxPerRun: 500,
      routes: false,
    });
  });

  test("may look at another time, more often, and take routes", () => {
    const more = "every: 1h, window: 30d, maxPerRun: 9, route: true";
    const { everyMs, windowMs, maxPerRun, routes } =
      sourceIn(entry(`{ token: env:OTHER, hook: "${HOOK}", ${more} }`)).catchUp ?? {};
    // GitHub keeps deliveries for a week at most.
    assert.deepEqual([everyMs, windowMs, maxPerRun, routes], [3_600_000, 7 * 86_400_000, 9, true]);
  });

  // https://github.com/hyperlocalise/hyperlocalise/pull/734
  test("of a GitHub App has its id and its key, also with escaped line ends or in base64", () => {
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const key = privateKey.export({ type: "pkcs1", format: "pem" }).toString();
    const ofApp = entry(`{ token: env:KEY, app: '12', hook: "https://api.github.com/app/hook" }`);
    for (const KEY of [key, key.replaceAll("\n", "\\n"), Buffer.from(key).toString("base64")])
      assert.equal(read(`sources:\n  s: ${ofApp}\n`, { KEY })?.sources[0]?.catchUp?.app, "12");
  });

  test("goes to the provider's own hosts, or to the one that host names", () => {
    const own = "https://git.example/api/v3/repos/o/r/hooks/1";
    const { catchUp } = sourceIn(entry(`{ token: env:OTHER, hook: "${own}", host: git.example }`));
    assert.deepEqual([catchUp?.hook, catchUp?.origin], [own, "https://git.example"]);
    const local = "http://127.0.0.1:8080/repos/o/r/hooks/1";
    const { origin } =
      sourceIn(entry(`{ token: env:OTHER, hook: "${local}", host: "http://127.0.0.1:8080" }`)).catchUp ?? {};
    assert.equal(origin, "http://127.0.0.1:8080");
    assert.equal(sourceIn(entry("{ token: env:OTHER }", "stripe")).catchUp?.origin, "https://api.stripe.com");
  });

  for (const [what, catchUp, fault, preset] of [
    [
      "another host",
      `{ token: env:OTHER, hook: "${HOOK.replace("api.", "api2.")}" }`,
      /^catchUp\.hook: found another host, expected api\.github\.com, or host:$/,
    ],
    ["http", `{ token: env:OTHER, hook: "${HOOK.replace("https", "http")}" }`, /^catchUp\.hook: found another host/],
    [
      "a password",
      `{ token: env:OTHER, hook: "${HOOK.replace("//", "//a:b@")}" }`,
      /^catchUp\.hook: found a URL of another form/,
    ],
    [
      "another path",
      `{ token: env:OTHER, hook: "https://api.github.com/user" }`,
      /^catchUp\.hook: found a URL of another form, expected https:/,
    ],
    ["no URL of the webhook", "{ token: env:OTHER }", /^catchUp\.hook: missing, expected https:/],
    [
      "a host in clear text",
      `{ token: env:OTHER, hook: "${HOOK}", host: "http://git.example" }`,
      /^catchUp\.host: found no host/,
    ],
    [
      "a literal token",
      `{ token: ghp_secret, hook: "${HOOK}" }`,
      /^catchUp\.token: found a literal value, expected env:NAME or file:PATH$/,
    ],
    [
      "an app whose token is no key",
      `{ token: env:OTHER, app: '12', hook: "https://api.github.com/app/hook" }`,
      /^catchUp\.token: found no key, expected the app's private RSA key in PEM$/,
    ],
    [
      "the webhook of an app, and no id of it",
      `{ token: env:OTHER, hook: "https://api.github.com/app/hook" }`,
      /^catchUp\.app: missing, expected the id of the app$/,
    ],
    [
      "an app, and the webhook of a repository",
      `{ token: env:OTHER, app: '12', hook: "${HOOK}" }`,
      /^catchUp\.app: found beside a webhook of no app/,
    ],
    [
      "a client of PayPal without its secret",
      `{ token: env:OTHER, hook: "https://api-m.paypal.com/v1/notifications/webhooks/1AB" }`,
      /^catchUp\.token: found no colon, expected CLIENT_ID:SECRET$/m,
      "paypal",
    ],
    [
      "an app of another provider",
      "{ token: env:OTHER, app: '12' }",
      /^catchUp\.app: found for a provider without apps/,
      "stripe",
    ],
    ["no token", `{ hook: "${HOOK}" }`, /^catchUp\.token: missing, expected text$/],
    [
      "a provider that cannot be asked",
      "{ token: env:OTHER }",
      /^catchUp: found for a provider whose deliveries cannot be asked for/,
      "zoom",
    ],
    [
      "a provider that signs as Svix, whose API is its own",
      '{ token: env:OTHER, hook: "https://api.resend.com/webhooks/ID" }',
      /^catchUp: found for a provider whose deliveries cannot be asked for/,
      "resend",
    ],
  ] as const) {
    test(`with ${what} is a fault, which shows no secret`, () => {
      const faults = faultsOf(entry(catchUp, preset)).join("\n");
      assert.match(faults, fault);
      assert.doesNotMatch(faults, /ghp_secret|a:b@/);
    });
  }

  test("names the variable of its token, which handlers do not get", () => {
    const file = read(`sources:\n  shop: ${entry(`{ token: env:OTHER, hook: "${HOOK}" }`)}\n`);
    assert.ok([...(file?.secretNames ?? [])].includes("OTHER"));
  });
});
