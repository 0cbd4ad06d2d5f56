import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { authenticateClient } from "../../../src/auth/clients/client-authentication.ts";
import { readParameters } from "../../../src/auth/clients/parameters.ts";
import { formEncoded } from "../../../src/lib/form-encoded.ts";
import { clientWith } from "../../helpers/clients.ts";

const SECRET = "a+b/c=% ñ:d";
const GRAFANA = clientWith({ secret: SECRET });
const IMMICH = clientWith({ name: "immich", secret: "the secret of immich" });
const PHONE = clientWith({ name: "phone", secret: null });
const CLIENTS = [GRAFANA, IMMICH, PHONE];

const base64 = (text: string) => Buffer.from(text).toString("base64");
const basic = (id: string, secret: string) => [`Basic ${base64(`${formEncoded(id)}:${formEncoded(secret)}`)}`];
const body = (parameters: Record<string, string>) => new URLSearchParams(parameters).toString();
const authenticate = (headers: readonly string[], text: string) =>
  authenticateClient(headers, readParameters(text, ["client_id", "client_secret", "code"]), CLIENTS);

suite("a client proves itself", () => {
  for (const [how, headers, text, client] of [
    ["by Basic", basic("grafana", SECRET), "", GRAFANA],
    ["by Basic, with the scheme in any case", [`bAsIc ${base64("immich:the+secret+of+immich")}`], "", IMMICH],
    ["by Basic, with its name in the body, too", basic("grafana", SECRET), "client_id=grafana", GRAFANA],
    ["by Basic with a secret that is not urlencoded", [`Basic ${base64(`grafana:${SECRET}`)}`], "", GRAFANA],
    ["in the body", [], body({ client_id: "grafana", client_secret: SECRET }), GRAFANA],
    ["not at all if it is public", [], "client_id=phone", PHONE],
    ["by Basic without a secret if it is public", basic("phone", ""), "", PHONE],
    ["with an empty secret if it is public", [], "client_id=phone&client_secret=", PHONE],
  ] as const)
    test(how, () => assert.deepEqual(authenticate(headers, text), { ok: true, client }));
});

suite("a client is refused", () => {
  for (const [why, headers, text, error, status] of [
    ["nothing was sent", [], "", "invalid_client", 401],
    ["a wrong secret in the body", [], "client_id=grafana&client_secret=x", "invalid_client", 401],
    ["a wrong secret by Basic", basic("grafana", "x"), "", "invalid_client", 401],
    ["the secret of another client", basic("grafana", "the secret of immich"), "", "invalid_client", 401],
    ["an unknown client", basic("gitea", SECRET), "", "invalid_client", 401],
    ["an unknown client without a secret", [], "client_id=gitea", "invalid_client", 401],
    ["no secret of a client that has one", [], "client_id=grafana", "invalid_client", 401],
    ["an empty secret of a client that has one", basic("grafana", ""), "", "invalid_client", 401],
    ["a secret of a public client", [], "client_id=phone&client_secret=x", "invalid_client", 401],
    ["a secret without a client", [], body({ client_secret: SECRET }), "invalid_client", 401],
    ["another scheme", ["Bearer x"], "client_id=phone", "invalid_client", 401],
    ["an empty header", [""], "client_id=phone", "invalid_client", 401],
    ["no colon", [`Basic ${base64("phone")}`], "", "invalid_client", 401],
    ["no name", [`Basic ${base64(`:${SECRET}`)}`], "", "invalid_client", 401],
    ["a malformed name", [`Basic ${base64("%ff:x")}`], "", "invalid_client", 401],
    ["no base64", ["Basic *"], "", "invalid_client", 401],
    ["a header that is too long", [`Basic ${" ".repeat(4096)}${base64("phone:")}`], "", "invalid_client", 401],
    ["two methods", basic("grafana", SECRET), body({ client_secret: SECRET }), "invalid_request", 400],
    ["two clients", basic("grafana", SECRET), "client_id=immich", "invalid_request", 400],
    ["two headers", [...basic("grafana", SECRET), ...basic("grafana", SECRET)], "", "invalid_request", 400],
    ["a repeated name", [], "client_id=phone&client_id=phone", "invalid_request", 400],
    ["another repeated parameter", basic("grafana", SECRET), "code=x&code=y", "invalid_request", 400],
    ["a request that is too large", basic("grafana", SECRET), "a&".repeat(101), "invalid_request", 400],
  ] as const)
    test(why, () => {
      const result = authenticate(headers, text);
      assert.ok(!result.ok);
      assert.deepEqual([result.error.body.error, result.error.status], [error, status]);
      const isChallenged = status === 401 && headers.length > 0;
      assert.equal(/^Basic /.test(result.error.headers["WWW-Authenticate"] ?? ""), isChallenged);
      assert.match(result.error.body.error_description, /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
    });

  test("alike if it is unknown and if its secret is wrong", () =>
    assert.deepEqual(authenticate(basic("gitea", "x"), ""), authenticate(basic("grafana", "x"), "")));
});
