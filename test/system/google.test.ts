import assert from "node:assert/strict";
import { generateKeyPairSync, sign } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { type Answer, ask, assertProblem } from "../helpers/client.ts";
import { type Server, startServer } from "../helpers/server.ts";
import { workingDir } from "../helpers/working-dir.ts";

const TOKEN = "a token of the watch request";
const EMAIL = "push@example.iam.gserviceaccount.com";
const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });

async function start(): Promise<Server> {
  const dir = workingDir();
  writeFileSync(join(dir, "google.json"), JSON.stringify({ ...publicKey.export({ format: "jwk" }), kid: "one" }));
  const sources = `
sources:
  drive: { preset: google_channels, secrets: [env:TOKEN] }
  pubsub: { preset: google_pubsub, keys: [file:google.json], options: { email: ${EMAIL} } }
`;
  writeFileSync(join(dir, "authserve.yaml"), sources);
  return startServer({ dir, env: { TOKEN } });
}

/** The id of the event that a delivery became, and whether it was stored before. */
function identityOf({ status, json }: Answer): unknown[] {
  assert.equal(status, 200);
  return [json.eventId, json.duplicate];
}

suite("notifications of a Google channel", () => {
  const notify = (server: Server, number: string, headers: Record<string, string> = {}) =>
    ask(server, "/webhook/drive", {
      method: "POST",
      headers: {
        "X-Goog-Channel-Token": TOKEN,
        "X-Goog-Channel-ID": "4ba78bf0",
        "X-Goog-Message-Number": number,
        "X-Goog-Resource-State": number === "1" ? "sync" : "update",
        ...headers,
      },
    });

  test("are events although they are empty, with and without a content type", async () => {
    await using server = await start();
    assert.deepEqual(identityOf(await notify(server, "1")), ["4ba78bf0:1", false]);
    const json = { "Content-Type": "application/json; utf-8" };
    assert.deepEqual(identityOf(await notify(server, "10", json)), ["4ba78bf0:10", false]);
    assert.deepEqual(identityOf(await notify(server, "10", json)), ["4ba78bf0:10", true]);
    assertProblem(await notify(server, "11", { "X-Goog-Channel-Token": "another" }), 403, "signature_mismatch");
    const { stdout } = await server.run(["events", "list", "--json"]);
    const events = JSON.parse(stdout) as { source: string; eventId: string; type: string }[];
    assert.deepEqual(events.map(({ eventId, type }) => [eventId, type]).sort(), [
      ["4ba78bf0:1", "sync"],
      ["4ba78bf0:10", "update"],
    ]);
  });
});

suite("messages of Pub/Sub", () => {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");

  function push(server: Server, body: string, headers: Record<string, string> = {}, claims: object = {}) {
    const iat = Math.floor(Date.now() / 1000);
    const aud = `${server.url}/webhook/pubsub`;
    const account = { sub: "1137", email: EMAIL, email_verified: true };
    const all = { iss: "https://accounts.google.com", aud, ...account, iat, exp: iat + 3600, ...claims };
    const signed = `${part({ alg: "RS256", kid: "one", typ: "JWT" })}.${part(all)}`;
    const signature = sign("sha256", Buffer.from(signed), privateKey).toString("base64url");
    const authorization = { Authorization: `Bearer ${signed}.${signature}`, "Content-Type": "application/json" };
    return ask(server, "/webhook/pubsub", { method: "POST", body, headers: { ...authorization, ...headers } });
  }

  const wrapped = (messageId: string, deliveryAttempt: number) =>
    JSON.stringify({ message: { data: "aGk=", messageId }, subscription: "s", deliveryAttempt });

  test("are events by their id, with a wrapper and without", async () => {
    await using server = await start();
    const idOf = async (body: string, headers?: Record<string, string>) =>
      identityOf(await push(server, body, headers));
    assert.deepEqual(await idOf(wrapped("2070443601311540", 1)), ["2070443601311540", false]);
    assert.deepEqual(await idOf(wrapped("2070443601311540", 2)), ["2070443601311540", true]);
    const headers = { "X-Goog-Pubsub-Message-Id": "77", "Content-Type": "text/plain" };
    assert.deepEqual(await idOf("hello", headers), ["77", false]);
  });

  test("are refused from another account, or for another audience", async () => {
    await using server = await start();
    for (const claims of [
      { email: "evil@attacker.iam.gserviceaccount.com" },
      { email_verified: false },
      { aud: "https://example.com/" },
      { iss: "https://example.com" },
      { exp: undefined },
    ]) {
      const { status } = await push(server, wrapped("1", 1), {}, claims);
      assert.equal(status, 403, JSON.stringify(claims));
    }
  });
});
