import assert from "node:assert/strict";
import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { suite, type TestContext, test } from "node:test";
import { ask, assertProblem } from "../helpers/client.ts";
import { authserve } from "../helpers/command.ts";
import { type Server, settings, startServer } from "../helpers/server.ts";
import { until } from "../helpers/until.ts";
import { workingDir } from "../helpers/working-dir.ts";

const EMAIL = "push@example.iam.gserviceaccount.com";
const AUDIENCE = "https://hooks.example.com/webhook/hooks";
const [one, two, other] = ["one", "two", "other"].map((kid) => {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  return { kid, privateKey, jwk: { ...publicKey.export({ format: "jwk" }), kid, use: "sig", alg: "RS256" } };
}) as [SigningKey, SigningKey, SigningKey];

interface SigningKey {
  kid: string;
  privateKey: KeyObject;
  jwk: object;
}

/** A sender that publishes its keys. Without any it answers with an error. */
async function startSender(context: TestContext, ...keys: object[]) {
  const sender = { url: "", keys, requests: 0, stop: () => {} };
  const server = createServer((_, response) => {
    sender.requests++;
    response.writeHead(sender.keys.length > 0 ? 200 : 500, { "Cache-Control": "max-age=3600" });
    response.end(JSON.stringify({ keys: sender.keys }));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  sender.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks`;
  sender.stop = () => {
    server.closeAllConnections();
    server.close();
  };
  context.after(sender.stop);
  return sender;
}

const configOf = (url: string) => `
sources:
  hooks:
    verify:
      type: jwt
      algorithms: [RS256]
      issuer: https://accounts.google.com
      audience: ${AUDIENCE}
      claims: { email: ${EMAIL}, email_verified: true }
    keys: ["url:${url}"]
`;

async function start(url: string, dir = workingDir()): Promise<Server> {
  writeFileSync(join(dir, "authserve.yaml"), configOf(url));
  return startServer({ dir });
}

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
let number = 0;

function tokenOf({ kid, privateKey }: SigningKey, claims: object = {}): string {
  const exp = Math.floor(Date.now() / 1000) + 300;
  const all = { iss: "https://accounts.google.com", aud: AUDIENCE, email: EMAIL, email_verified: true, exp, ...claims };
  const signed = `${part({ alg: "RS256", kid })}.${part(all)}`;
  return `${signed}.${sign("sha256", Buffer.from(signed), privateKey).toString("base64url")}`;
}

function deliver(server: Server, key: SigningKey, claims?: object) {
  const headers = { "Content-Type": "application/json", Authorization: `Bearer ${tokenOf(key, claims)}` };
  return ask(server, "/webhook/hooks", { method: "POST", body: JSON.stringify({ n: number++ }), headers });
}

const statusOf = async (server: Server, key: SigningKey, claims?: object) =>
  (await deliver(server, key, claims)).status;

suite("public keys at a URL", () => {
  test("are fetched before the first delivery, and verify only the account that is required", async (t) => {
    const sender = await startSender(t, one.jwk);
    await using server = await start(sender.url);
    assert.equal(await statusOf(server, one), 200);
    for (const claims of [
      { email: "evil@attacker.iam.gserviceaccount.com" },
      { email_verified: false },
      { aud: "https://example.com/" },
      { iss: "https://example.com/" },
    ])
      assertProblem(await deliver(server, one, claims), 403, "signature_mismatch");
    const { keys, count } = await server.logged("key_set_changed");
    assert.deepEqual([keys, count], [sender.url, 1]);
  });

  test("are fetched again for a token that names an unknown key, at most once a minute", async (t) => {
    const sender = await startSender(t, one.jwk);
    await using server = await start(sender.url);
    assert.equal(await statusOf(server, one), 200);
    sender.keys = [two.jwk];
    assert.equal(await statusOf(server, two), 200);
    assert.equal(await statusOf(server, one), 403);
    const before = sender.requests;
    for (let n = 0; n < 5; n++) assert.equal(await statusOf(server, other), 403);
    assert.equal(sender.requests, before);
  });

  test("stay in use when they cannot be fetched, also after a start", async (t) => {
    const sender = await startSender(t, one.jwk);
    const first = await start(sender.url);
    try {
      sender.stop();
      assert.equal(await statusOf(first, other), 403);
      assert.equal(await statusOf(first, one), 200);
      await first.logged("key_set_error");
    } finally {
      await first.stop();
    }
    await using second = await start(sender.url, first.dir);
    assert.equal(await statusOf(second, one), 200);
    assert.equal(await statusOf(second, other), 403);
  });

  test("that were never there make the sender wait, and doctor tells of them", async (t) => {
    const sender = await startSender(t);
    const dir = workingDir();
    const server = await start(sender.url, dir);
    try {
      const answer = await deliver(server, one);
      assertProblem(answer, 503, "intake_paused");
      assert.equal(answer.headers.get("retry-after"), "60");
      const line = await until(() => server.log("request_completed").find(({ status }) => status === 503));
      assert.equal(line.reason, "keys_unknown");
      assert.equal((await server.logged("key_set_error")).error, "the answer was 500, not 200");
    } finally {
      await server.stop();
    }
    const { stdout } = await authserve(["doctor", "--json"], { dir, env: settings(dir) });
    const findings = JSON.parse(stdout) as { check: string; found: string }[];
    assert.deepEqual(
      findings.flatMap(({ check, found }) => (check === "keys" ? [found] : [])),
      [`${sender.url} has never been read`],
    );
    sender.keys = [one.jwk];
    await using second = await start(sender.url, dir);
    assert.equal(await statusOf(second, one), 200);
  });

  test("verify signatures that are no tokens", async (t) => {
    const { privateKey, publicKey } = generateKeyPairSync("ed25519");
    const sender = await startSender(t, publicKey.export({ format: "jwk" }));
    const dir = workingDir();
    const config = `sources:\n  hooks:\n    verify: { type: ed25519, header: x-sig }\n    keys: ["url:${sender.url}"]\n`;
    writeFileSync(join(dir, "authserve.yaml"), config);
    await using server = await startServer({ dir });
    const send = (body: string, signed = body) => {
      const signature = sign(null, Buffer.from(signed), privateKey).toString("hex");
      const headers = { "Content-Type": "application/json", "X-Sig": signature };
      return ask(server, "/webhook/hooks", { method: "POST", body, headers });
    };
    assert.equal((await send('{"n":1}')).status, 200);
    assertProblem(await send('{"n":2}', '{"n":1}'), 403, "signature_mismatch");
    // What is stored names the place, and no key.
    const { stdout } = await server.run(["sources", "list", "--json"]);
    const listed = JSON.parse(stdout) as { name: string; secrets: string[] }[];
    assert.deepEqual(listed.find(({ name }) => name === "hooks")?.secrets, [`url:${sender.url}`]);
  });

  test("are used by commands as the server last read them", async (t) => {
    const sender = await startSender(t, one.jwk);
    await using server = await start(sender.url);
    const input = `POST /webhook/hooks HTTP/1.1\nContent-Type: application/json\nAuthorization: Bearer ${tokenOf(one)}\n\n{}`;
    const requests = sender.requests;
    const { stdout } = await authserve(["sources", "explain", "hooks", "--json"], {
      dir: server.dir,
      env: server.env,
      input,
    });
    assert.equal(JSON.parse(stdout).genuine, true);
    assert.equal(sender.requests, requests);
  });
});
