import assert from "node:assert/strict";
import { createHmac, generateKeyPairSync, hash, sign } from "node:crypto";
import { writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { ask } from "../helpers/client.ts";
import { authserve } from "../helpers/command.ts";
import { startServer } from "../helpers/server.ts";
import { list, show } from "../helpers/stored-events.ts";
import { workingDir } from "../helpers/working-dir.ts";

const ed25519 = generateKeyPairSync("ed25519");
const ec = generateKeyPairSync("ec", { namedCurve: "P-256" });
const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
const SECRET = "a secret of the tests";
const seconds = () => String(Math.floor(Date.now() / 1000));

const dir = workingDir();
writeFileSync(join(dir, "rsa.pem"), rsa.publicKey.export({ format: "pem", type: "spki" }));
writeFileSync(join(dir, "private.pem"), ed25519.privateKey.export({ format: "pem", type: "pkcs8" }));
writeFileSync(
  join(dir, "authserve.yaml"),
  `sources:
  discord: { preset: discord, keys: [env:DISCORD_KEY] }
  ecdsa:
    verify: { type: ecdsa, header: x-sig, signed: "{timestamp}.{body}", timestamp: { header: x-time } }
    keys: [${JSON.stringify(ec.publicKey.export({ format: "der", type: "spki" }).toString("base64"))}]
  rsa: { verify: { type: rsa, header: x-sig, encoding: base64 }, keys: [file:rsa.pem] }
  jwt:
    verify: { type: jwt, issuer: shop, audience: "{url}", bodyClaim: sha, tolerance: 1m }
    secrets: [env:SECRET]
    id: claim:jti
  twilio: { preset: twilio, secrets: [env:SECRET] }
  adyen: { preset: adyen, secrets: [env:ADYEN_KEY] }
  contentful: { preset: contentful, secrets: [env:SECRET] }
  dropbox: { preset: dropbox_sign, secrets: [env:SECRET] }
  kofi: { preset: kofi, secrets: [env:SECRET] }
  plex: { preset: plex, secrets: [env:SECRET] }
  inpath: { verify: { type: token, path: true }, secrets: [env:SECRET] }
`,
);
const server = await startServer({
  dir,
  env: {
    SECRET,
    ADYEN_KEY: "44782def547aaa06c910c43932b1eb0c71fc68d9d0c057550c48ec2acf6ba056",
    DISCORD_KEY: ed25519.publicKey.export({ format: "der", type: "spki" }).subarray(-32).toString("hex"),
    PUBLIC_URL: "https://hooks.example.com",
    TRUSTED_PROXIES: "127.0.0.2",
  },
});
after(() => server[Symbol.asyncDispose]());

interface Listed {
  name: string;
  secrets: string[];
}

interface Sent {
  body: string;
  headers: Record<string, string>;
}

const JSON_TYPE = { "Content-Type": "application/json" };

async function statusOf(source: string, { body, headers }: Sent, query = ""): Promise<number> {
  const sent = { method: "POST", body, headers: { ...JSON_TYPE, ...headers } };
  return (await ask(server, `/webhook/${source}${query}`, sent)).status;
}

/** Sends a delivery from an address of this machine. */
function statusFrom(localAddress: string, source: string, { body, headers }: Sent): Promise<number> {
  return new Promise((resolve, reject) => {
    request(`${server.url}/webhook/${source}`, { method: "POST", headers, localAddress }, (response) => {
      response.resume().on("end", () => resolve(response.statusCode ?? 0));
    })
      .on("error", reject)
      .end(body);
  });
}

suite("a server with public keys", () => {
  function discordDelivery(body: string) {
    const time = seconds();
    const signature = sign(null, Buffer.from(time + body), ed25519.privateKey).toString("hex");
    return { body, headers: { "X-Signature-Ed25519": signature, "X-Signature-Timestamp": time } };
  }

  test("takes what Discord signed, and answers 401 to what it did not", async () => {
    const delivery = discordDelivery('{"id":"1099","type":2}');
    assert.equal(await statusOf("discord", delivery), 204);
    assert.equal((await show(server, "1099")).secret, "env:DISCORD_KEY");
    assert.equal(await statusOf("discord", { ...delivery, body: '{"id":"1098","type":2}' }), 401);
    const listed = JSON.parse((await server.run(["sources", "list", "--json"])).stdout) as Listed[];
    assert.deepEqual(listed.find(({ name }) => name === "discord")?.secrets, ["env:DISCORD_KEY"]);
  });

  test("takes signatures of ECDSA and RSA that the file describes", async () => {
    const body = '{"id":"ec-1","type":"order.paid"}';
    const time = seconds();
    const headers = {
      "X-Time": time,
      "X-Sig": sign("sha256", Buffer.from(`${time}.${body}`), ec.privateKey).toString("base64"),
    };
    assert.equal(await statusOf("ecdsa", { body, headers }), 200);
    assert.match((await show(server, "ec-1")).secret, /^key:[0-9a-f]{12}$/);
    assert.equal(await statusOf("ecdsa", { body: `${body} `, headers }), 403);
    const signature = sign("sha256", Buffer.from(body), rsa.privateKey).toString("base64");
    assert.equal(await statusOf("rsa", { body, headers: { "X-Sig": signature } }), 200);
    assert.equal(await statusOf("rsa", { body: `${body} `, headers: { "X-Sig": signature } }), 403);
  });

  test("sends as the owner of a private key", async () => {
    const refused = await server.run(["send", "--source", "discord"]);
    assert.match(refused.stderr, /discord has the sender's public keys only.*--secret-file/s);
    const sent = await server.run(["send", "--source", "discord", "--secret-file", "private.pem", "--id", "sent-1"]);
    assert.equal(sent.code, 0, sent.stderr);
    assert.equal((await show(server, "sent-1")).source, "discord");
  });

  test("explains a delivery", async () => {
    const { body, headers } = discordDelivery('{"id":"7","type":2}');
    const lines = Object.entries({ "Content-Type": "application/json", ...headers }).map((header) => header.join(": "));
    const raw = (text: string) => ["POST /webhook/discord HTTP/1.1", ...lines, "", text].join("\r\n");
    const explain = (input: string) => authserve(["sources", "explain", "discord"], { dir, env: server.env, input });
    const right = await explain(raw(body));
    assert.match(right.stdout, /signature +yes +made with env:DISCORD_KEY/);
    const wrong = await explain(raw(`${body}\n`));
    assert.match(
      wrong.stdout,
      /signature +NO +not made with env:DISCORD_KEY; it is right for the body without its last/,
    );
  });
});

test("a server takes tokens that cover the body and the address", async () => {
  const body = '{"type":"order.paid"}';
  function tokenOf(claims: object): string {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const signed = `${part({ alg: "HS256" })}.${part(claims)}`;
    return `Bearer ${signed}.${createHmac("sha256", SECRET).update(signed).digest("base64url")}`;
  }
  const claims = {
    iss: "shop",
    aud: "https://hooks.example.com/webhook/jwt",
    iat: Number(seconds()),
    jti: "token-1",
    sha: hash("sha256", body),
  };
  assert.equal(await statusOf("jwt", { body, headers: { Authorization: tokenOf(claims) } }), 200);
  assert.equal((await show(server, "token-1")).type, "order.paid");
  for (const other of [
    { aud: "https://other.example/" },
    { iss: "other" },
    { sha: hash("sha256", "{}") },
    { iat: 1 },
  ]) {
    assert.equal(await statusOf("jwt", { body, headers: { Authorization: tokenOf({ ...claims, ...other }) } }), 403);
  }
});

suite("a signature that covers the address", () => {
  const body = "MessageSid=SM1&Body=hello";
  const signed = (url: string) => ({
    body,
    headers: {
      "Content-Type": "application/x-www-form-urlencoded",
      "X-Twilio-Signature": createHmac("sha1", SECRET).update(`${url}BodyhelloMessageSidSM1`).digest("base64"),
    },
  });

  test("is right for PUBLIC_URL, whatever host was asked", async () => {
    for (const origin of ["https://hooks.example.com", "https://hooks.example.com:443"]) {
      assert.equal(await statusOf("twilio", signed(`${origin}/webhook/twilio?a=1`), "?a=1"), 200, origin);
    }
    for (const origin of ["https://other.example", server.url]) {
      assert.equal(await statusOf("twilio", signed(`${origin}/webhook/twilio`)), 403, origin);
    }
  });

  test("is right for what a trusted proxy says, and only then", async () => {
    const { headers } = signed("https://shop.example/hooks/webhook/twilio");
    const forwarded = {
      body,
      headers: {
        ...headers,
        "X-Forwarded-Proto": "https",
        "X-Forwarded-Host": "shop.example",
        "X-Forwarded-Prefix": "/hooks",
        "X-Forwarded-For": "192.0.2.1",
      },
    };
    assert.equal(await statusFrom("127.0.0.2", "twilio", forwarded), 200);
    assert.equal(await statusFrom("127.0.0.1", "twilio", forwarded), 403);
  });
});

test("what is written in another way under the same signature is the same event", async () => {
  const url = "https://hooks.example.com/webhook/twilio";
  const signature = createHmac("sha1", SECRET).update(`${url}BodyhelloToyou`).digest("base64");
  const headers = { "Content-Type": "application/x-www-form-urlencoded", "X-Twilio-Signature": signature };
  const stored = async () => (await list(server, "--source", "twilio")).length;
  const before = await stored();
  for (const body of ["Body=hello&To=you", "To=you&Body=%68ello", "B=odyhello&To=you"]) {
    const answer = await ask(server, "/webhook/twilio", { method: "POST", body, headers });
    // Any other answer is an error in Twilio's console, and a caller hears it.
    assert.deepEqual(
      [answer.status, answer.headers.get("content-type"), answer.text],
      [200, "text/xml", "<Response/>"],
    );
  }
  assert.equal((await stored()) - before, 1);
});

test("Adyen gets the answer that it expects", async () => {
  const { stdout, code } = await server.run(["send", "--source", "adyen"]);
  assert.deepEqual([code, stdout.trim()], [0, "[accepted]"]);
});

for (const source of ["contentful", "dropbox", "kofi", "plex", "inpath"]) {
  test(`send delivers to ${source} as its sender does, and prints no secret`, async () => {
    const { stdout, stderr, code } = await server.run(["send", "--source", source, "--json"]);
    assert.equal(code, 0, stderr);
    assert.deepEqual(JSON.parse(stdout).statuses, { 200: 1 });
    assert.doesNotMatch(stdout + stderr, /a(?: |%20|\+)secret/);
  });
}
