import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { NOBODY, needsOtherUser } from "../../helpers/back-end.ts";
import { authserve, type Command, EXECUTABLE, startProgram } from "../../helpers/command.ts";
import { openRaw, sendRaw } from "../../helpers/raw-http.ts";
import { type Server, startServer } from "../../helpers/server.ts";
import { PLAUSIBLE, signature } from "../../helpers/sign.ts";
import { until } from "../../helpers/until.ts";
import { workingDir } from "../../helpers/working-dir.ts";

const SECRET = "the secret of the shop";
const FILE = `sources:
  shop: { verify: { header: x-sig }, secrets: [env:SHOP_SECRET], bodyLimit: 2k }
  chat: { verify: { type: token, path: true }, secrets: [env:SHOP_SECRET] }
  cards: { verify: { header: x-sig }, secrets: [env:SHOP_SECRET], redact: [card] }
  big: { verify: { header: x-sig }, secrets: [env:SHOP_SECRET], bodyLimit: 1m }
`;

interface Captured {
  file: string;
  method: string;
  path: string;
  status: number | null;
  address: string;
  receivedAt: string;
}

const BODY = '{"id":"e1","type":"order.paid"}';
const SIGNED = `X-Sig: ${signature(BODY, SECRET).slice("sha256=".length)}`;
const JSON_TYPE = "Content-Type: application/json";
const lengthOf = (body: string) => `Content-Length: ${body.length}`;
const head = (method: string, path: string, ...lines: string[]) =>
  `${[`${method} ${path} HTTP/1.1`, "Host: localhost", "Connection: close", ...lines].join("\r\n")}\r\n\r\n`;
const chunked = (body: string) =>
  `5\r\n${body.slice(0, 5)}\r\n${(body.length - 5).toString(16)}\r\n${body.slice(5)}\r\n0\r\n\r\n`;

const ordersIn = (server: Server) => {
  const folder = join(server.dir, "data/captures");
  return existsSync(folder) ? readdirSync(folder) : [];
};

suite("sources capture", () => {
  let server: Server;
  before(async () => {
    const dir = workingDir();
    writeFileSync(join(dir, "authserve.yaml"), FILE);
    server = await startServer({ dir, env: { SHOP_SECRET: SECRET } });
  });
  after(async () => void (await server.stop()));

  /** Starts the command and waits until the server keeps requests. Its files are in the folder. */
  async function capturing(...args: string[]): Promise<{ command: Command; out: string }> {
    const out = workingDir();
    const command = startProgram(EXECUTABLE, ["sources", "capture", ...args, "--out", out], server);
    let hasEnded = false;
    void command.exited.then(() => {
      hasEnded = true;
    });
    await until(() => hasEnded || command.stderr().includes("Waiting for"));
    assert.equal(hasEnded, false, command.stderr());
    return { command, out };
  }

  async function foundBy({ exited, stdout, stderr }: Command): Promise<Captured[]> {
    assert.deepEqual(await exited, { code: 0, signal: null }, stderr());
    return JSON.parse(stdout()) as Captured[];
  }

  const LARGE = JSON.stringify({ id: "e2", text: "x".repeat(4000) });
  for (const [what, source, path, request, status] of [
    [
      "a genuine delivery",
      "shop",
      "/webhook/shop",
      head("POST", "/webhook/shop", JSON_TYPE, SIGNED, lengthOf(BODY)) + BODY,
      200,
    ],
    [
      "a wrong signature",
      "shop",
      "/webhook/shop",
      head("POST", "/webhook/shop", JSON_TYPE, `X-Sig: ${PLAUSIBLE}`, lengthOf(BODY)) + BODY,
      403,
    ],
    ["no signature", "shop", "/webhook/shop", head("POST", "/webhook/shop", JSON_TYPE, lengthOf(BODY)) + BODY, 403],
    [
      "an unaccepted media type",
      "shop",
      "/webhook/shop",
      head("POST", "/webhook/shop", "Content-Type: image/png", SIGNED, lengthOf(BODY)) + BODY,
      415,
    ],
    ["GET", "shop", "/webhook/shop", head("GET", "/webhook/shop?challenge=a%20b"), 405],
    [
      "a body in chunks",
      "shop",
      "/webhook/shop",
      head("POST", "/webhook/shop", JSON_TYPE, SIGNED, "Transfer-Encoding: chunked") + chunked(BODY),
      200,
    ],
    [
      "a body that is too large",
      "shop",
      "/webhook/shop",
      head("POST", "/webhook/shop", JSON_TYPE, SIGNED, lengthOf(LARGE)) + LARGE,
      413,
    ],
    [
      "a body in chunks that is too large",
      "shop",
      "/webhook/shop",
      head("POST", "/webhook/shop", JSON_TYPE, SIGNED, "Transfer-Encoding: chunked") + chunked(LARGE),
      413,
    ],
    [
      "a wrong token in the path",
      "chat",
      "/webhook/chat/…",
      head("POST", "/webhook/chat/wrong", JSON_TYPE, lengthOf(BODY)) + BODY,
      403,
    ],
  ] as const) {
    test(`${what}: explain says of the file what the server answered, ${status}`, async () => {
      const { command } = await capturing(source, "--json");
      assert.equal((await sendRaw(server.port, request)).status, status);
      const [found, ...others] = await foundBy(command);
      assert.ok(found);
      assert.deepEqual(others, []);
      const method = request.slice(0, request.indexOf(" "));
      assert.deepEqual([found.method, found.path, found.status, found.address], [method, path, status, "127.0.0.1"]);
      const args = ["sources", "explain", source, "--at", found.receivedAt, "--address", found.address, "--json"];
      const { stdout, stderr } = await authserve(args, { ...server, input: readFileSync(found.file) });
      const { answer } = JSON.parse(stdout || stderr) as { answer: { status: number } };
      assert.equal(answer.status, status);
    });
  }

  test("the file has the request as it came, for its owner only, and nothing is left in the data directory", async () => {
    const { command, out } = await capturing("shop");
    const request = head("POST", "/webhook/shop?a=%7E", "x-ODD:  1", "X-Odd: 2", JSON_TYPE, lengthOf(BODY)) + BODY;
    await sendRaw(server.port, request);
    assert.equal((await command.exited).code, 0);
    const file = join(out, "capture-shop-1.http");
    assert.equal(command.stdout(), `${file}\n`);
    assert.match(command.stderr(), /The files hold credentials/);
    assert.match(command.stderr(), /authserve sources explain shop --at \S+Z --address 127\.0\.0\.1 < /);
    assert.equal(readFileSync(file, "utf8"), request.replace("x-ODD:  1", "x-ODD: 1"));
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.deepEqual(ordersIn(server), []);
  });

  test("a redacted member is in no file, and explain says why nothing verifies the rest", async () => {
    const { command } = await capturing("cards", "--count", "2", "--json");
    const body = '{"id":"e1","type":"paid","card":"4242424242"}';
    const card = "X-Card: 4242424242";
    await sendRaw(server.port, head("POST", "/webhook/cards", JSON_TYPE, SIGNED, card, lengthOf(body)) + body);
    await sendRaw(server.port, `${head("POST", "/webhook/cards?card=4242424242", SIGNED, lengthOf("card=42"))}card=42`);
    const found = await foundBy(command);
    const [kept = "", other = ""] = found.map(({ file }) => readFileSync(file, "utf8"));
    assert.match(kept, /"card":"\[redacted\]"\}$/);
    assert.doesNotMatch(kept + other, /card=|4242424242/);
    const args = ["sources", "explain", "cards", "--at", found[0]?.receivedAt ?? ""];
    const { stdout, stderr } = await authserve(args, { ...server, input: Buffer.from(kept) });
    assert.match(stdout + stderr, /the body was redacted, so that nothing verifies it any more/);
  });

  test("the refused body of a sender that waits for 100 Continue is kept", async () => {
    const { command } = await capturing("shop", "--json");
    const socket = await openRaw(server.port);
    socket.write(head("POST", "/webhook/shop", JSON_TYPE, "Expect: 100-continue", lengthOf(BODY)));
    const [answer] = (await new Promise((resolve) => socket.once("data", (data) => resolve([String(data)])))) as [
      string,
    ];
    assert.match(answer, /^HTTP\/1\.1 100 /);
    socket.write(BODY);
    const [found] = await foundBy(command);
    socket.destroy();
    assert.equal(found?.status, 403);
    assert.ok(readFileSync(found.file, "utf8").endsWith(`\r\n\r\n${BODY}`));
  });

  test("requests that are sent before the answer to the one before are kept whole", async () => {
    const { command } = await capturing("shop", "--count", "2", "--json");
    const socket = await openRaw(server.port);
    const request = head("POST", "/webhook/shop", JSON_TYPE, SIGNED, lengthOf(BODY)).replace(
      "Connection: close\r\n",
      "",
    );
    socket.write(`${request}${BODY}${request}${BODY}`);
    const found = await foundBy(command);
    socket.destroy();
    assert.deepEqual(
      found.map(({ file, status }) => [readFileSync(file, "utf8"), status]),
      [
        [request + BODY, 200],
        [request + BODY, 200],
      ],
    );
  });

  test("a request whose sender leaves is kept as far as it came", async () => {
    const { command } = await capturing("shop", "--json");
    const socket = await openRaw(server.port);
    socket.write(`${head("POST", "/webhook/shop", JSON_TYPE, SIGNED, lengthOf(BODY))}{"id"`);
    socket.resetAndDestroy();
    const [found] = await foundBy(command);
    assert.equal(found?.status, null);
    assert.match(readFileSync(found.file, "utf8"), /^POST /);
  });

  test("as many requests as asked for are kept, of this source only, under free names", async () => {
    const { command, out } = await capturing("shop", "--count", "2", "--json");
    writeFileSync(join(out, "capture-shop-1.http"), "mine");
    await sendRaw(server.port, head("POST", "/webhook/big", JSON_TYPE, lengthOf(BODY)) + BODY);
    for (const query of ["first", "second", "third"]) await sendRaw(server.port, head("GET", `/webhook/shop?${query}`));
    const found = await foundBy(command);
    assert.deepEqual(
      found.map(({ file }) => file),
      [join(out, "capture-shop-2.http"), join(out, "capture-shop-3.http")],
    );
    assert.match(readFileSync(found[1]?.file ?? "", "utf8"), /^GET \/webhook\/shop\?second /);
    assert.deepEqual(readdirSync(out).length, 3);
  });

  test("a capture ends with what it has when 10 MiB are kept", async () => {
    const { command } = await capturing("big", "--count", "100", "--json");
    const body = "x".repeat(1024 * 1024);
    for (let sent = 0; sent < 11; sent += 1)
      await sendRaw(server.port, head("POST", "/webhook/big", JSON_TYPE, lengthOf(body)) + body);
    assert.equal((await foundBy(command)).length, 10);
    assert.match(command.stderr(), /they have reached 10 MiB/);
  });

  test("without a request in its time it exits with 1 and withdraws", async () => {
    const { code, stdout, stderr } = await server.run(["sources", "capture", "shop", "--for", "1ms"]);
    assert.deepEqual([code, stdout], [1, ""]);
    assert.match(stderr, /There was no request to shop/);
    assert.deepEqual(ordersIn(server), []);
  });

  test("Ctrl-C withdraws it", async () => {
    const { command } = await capturing("shop");
    command.child.kill("SIGINT");
    assert.equal((await command.exited).code, 1);
    assert.deepEqual(ordersIn(server), []);
  });

  test("what a killed command has left is removed after its time", async () => {
    const { command } = await capturing("shop");
    command.child.kill("SIGKILL");
    await command.exited;
    const [id = ""] = ordersIn(server);
    const order = join(server.dir, "data/captures", id, "order.json");
    const { until: _until, ...rest } = JSON.parse(readFileSync(order, "utf8")) as { until: number };
    writeFileSync(order, JSON.stringify({ ...rest, until: 1 }));
    await server.stop();
    server = await startServer({ dir: server.dir, env: { SHOP_SECRET: SECRET } });
    await until(() => ordersIn(server).length === 0);
  });

  for (const [what, args, message] of [
    ["an unknown source", ["shops"], /did you mean shop/],
    ["a count above 100", ["shop", "--count", "101"], /--count is not usable/],
    ["more than a day", ["shop", "--for", "25h"], /--for is not usable/],
    ["a folder that is not there", ["shop", "--out", "nowhere"], /--out/],
  ] as const) {
    test(`it refuses ${what}`, async () => {
      const { code, stderr } = await server.run(["sources", "capture", ...args]);
      assert.equal(code, 2);
      assert.match(stderr, message);
    });
  }
});

test("sources capture without a running server says to start it", async () => {
  const dir = workingDir();
  writeFileSync(join(dir, "authserve.yaml"), FILE);
  const env = { DATA_DIR: join(dir, "data"), SHOP_SECRET: SECRET };
  const { code, stderr } = await authserve(["sources", "capture", "shop"], { dir, env });
  assert.equal(code, 1);
  assert.match(stderr, /start the server/);
});

test("root captures from a server of another user, which may capture after that", needsOtherUser(), async () => {
  const dir = workingDir(0o777);
  writeFileSync(join(dir, "authserve.yaml"), FILE);
  const user = process.getuid?.() === 0 ? { uid: NOBODY } : {};
  await using server = await startServer({ dir, env: { SHOP_SECRET: SECRET }, ...user });
  for (const as of [{}, user]) {
    const command = startProgram(EXECUTABLE, ["sources", "capture", "shop"], { ...server, ...as });
    await until(() => command.stderr().includes("Waiting for") || command.stderr().includes("error"));
    await sendRaw(server.port, head("GET", "/webhook/shop"));
    assert.equal((await command.exited).code, 0, command.stderr());
  }
  assert.deepEqual(ordersIn(server), []);
});
