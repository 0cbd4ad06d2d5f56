import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { suite, test } from "node:test";
import { faultsOf, read, sourceIn } from "../../helpers/config-file.ts";

const graph = (renew: string) => `{ preset: ms_graph, secrets: [env:SECRET], renew: ${renew} }`;
const GRAPH = "token: env:OTHER, tenant: t, client: c, resource: users/ada/messages, changeType: created";
const WATCH = "https://www.googleapis.com/drive/v3/changes/watch?pageToken=1";
const google = (watch: string) =>
  `{ preset: google_channels, secrets: [env:SECRET], renew: { token: env:KEY, watch: "${watch}" } }`;
const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const KEY = JSON.stringify({
  client_email: "a@example.com",
  private_key: privateKey.export({ type: "pkcs8", format: "pem" }),
});

suite("renew of a source", () => {
  test("says what Microsoft Graph watches, with a life of two days unless it says otherwise", () => {
    const { kind, lifeMs, resource, origins } = sourceIn(graph(`{ ${GRAPH} }`)).renew ?? {};
    assert.deepEqual([kind, lifeMs, resource], ["ms_graph", 2 * 86_400_000, "users/ada/messages"]);
    assert.deepEqual(origins, { auth: "https://login.microsoftonline.com", api: "https://graph.microsoft.com" });
    const { lifeMs: day, lifecycle } = sourceIn(graph(`{ ${GRAPH}, life: 1d, lifecycle: false }`)).renew ?? {};
    assert.deepEqual([day, lifecycle], [86_400_000, false]);
    assert.equal(sourceIn(graph(`{ ${GRAPH} }`)).renew?.lifecycle, true);
  });

  test("says which channel of Google is opened, with the key of a service account", () => {
    const file = read(`sources:\n  s: ${google(WATCH)}\n`, { KEY });
    assert.equal(file?.sources[0]?.renew?.watch, WATCH);
  });

  test("that cannot be right is a fault, which shows no secret", () => {
    assert.match(faultsOf(graph("{ token: env:OTHER }")).join("\n"), /^renew\.tenant: missing, expected text$/m);
    assert.match(
      faultsOf(graph(`{ ${GRAPH.replace("env:OTHER", "secret")} }`)).join(),
      /^renew\.token: found a literal value/,
    );
    assert.match(
      faultsOf(google("https://evil.example/drive/v3/changes/watch")).join("\n"),
      /renew\.(?:token|watch): /,
    );
    const other = "{ preset: github, secrets: [env:SECRET], renew: { token: env:OTHER } }";
    assert.match(faultsOf(other).join(), /^renew: found beside another preset than ms_graph or google_channels/);
  });
});

test("expiresAt is a time", () => {
  const entry = (at: string) => `{ preset: github, secrets: [env:SECRET], expiresAt: ${at} }`;
  assert.equal(sourceIn(entry("2026-12-31T12:00:00Z")).expiresAt, Date.UTC(2026, 11, 31, 12));
  assert.match(faultsOf(entry("soon")).join(), /^expiresAt: found "soon", expected a time/);
});
