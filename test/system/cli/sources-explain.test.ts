import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { authserve } from "../../helpers/command.ts";
import { sendRaw } from "../../helpers/raw-http.ts";
import { type Server, startServer } from "../../helpers/server.ts";
import { PLAUSIBLE, signature } from "../../helpers/sign.ts";
import { until } from "../../helpers/until.ts";
import { workingDir } from "../../helpers/working-dir.ts";

/** A delivery that somebody has reported, and a source that it is sent to. */
interface Reported {
  name: string;
  source: string;
  /** That of the server, if it is signed. */
  publicUrl?: string;
  /** What the server answers. */
  status: number;
  head: string[];
  body?: string;
  bodyBase64?: string;
}

const REPORTED = JSON.parse(
  readFileSync(new URL("../../fixtures/reported-deliveries.json", import.meta.url), "utf8"),
) as { environment: Record<string, string>; files: Record<string, object>; cases: Reported[] };

function bytesOf({ head, body = "", bodyBase64 }: Reported): Buffer {
  const bytes = bodyBase64 === undefined ? Buffer.from(body) : Buffer.from(bodyBase64, "base64");
  return Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`), bytes]);
}

const explain = ({ dir, env }: Server, args: readonly string[], input?: string | Buffer) =>
  authserve(["sources", "explain", ...args], { dir, env, ...(input !== undefined && { input }) });

async function serverOf(file: string, env: Record<string, string>): Promise<Server> {
  const dir = workingDir();
  writeFileSync(join(dir, "authserve.yaml"), file);
  for (const [name, content] of Object.entries(REPORTED.files)) writeFileSync(join(dir, name), JSON.stringify(content));
  return startServer({ dir, env });
}

const byPublicUrl = Map.groupBy(REPORTED.cases, ({ publicUrl = "https://hooks.example.com" }) => publicUrl);
for (const [PUBLIC_URL, cases] of byPublicUrl)
  suite(`sources explain says what ${PUBLIC_URL} answers`, () => {
    const sources = cases.map(({ name, source }) => `  ${name}: ${source}\n`).join("");
    let server: Server;
    before(async () => {
      const env = { ...REPORTED.environment, PUBLIC_URL };
      server = await serverOf(`sources:\n${sources}`, env);
    });
    after(async () => void (await server.stop()));

    for (const reported of cases) {
      const { name, status } = reported;
      test(`${name}: ${status}`, async () => {
        const sent = bytesOf(reported);
        assert.equal((await sendRaw(server.port, sent)).status, status);
        const { code, stdout } = await explain(server, [name, "--json"], sent);
        const { answer, checks } = JSON.parse(stdout) as {
          answer: { status: number };
          checks: { name: string; ok: boolean }[];
        };
        assert.equal(answer.status, status);
        assert.equal(code, status < 300 ? 0 : 1);
        assert.equal(
          checks.every(({ ok }) => ok),
          status < 300,
          JSON.stringify(checks),
        );
      });
    }
  });

const FILE = `sources:
  shop: { verify: { header: x-sig }, secrets: [env:SHOP_SECRET], keepRejected: {} }
routes:
  - { name: paid, types: [order.paid], log: {} }
`;
const SECRET = "the secret of the shop";
const BODY = '{"id":"e1","type":"order.paid"}';
const request = (sig: string, more = "") =>
  `POST /webhook/shop HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nX-Sig: ${sig}\r\n${more}Content-Length: ${BODY.length}\r\n\r\n${BODY}`;

test("the words of an explanation say what the server would answer, and mend the description", async (t) => {
  const server = await serverOf(FILE, { SHOP_SECRET: SECRET });
  t.after(() => server[Symbol.asyncDispose]());
  const right = await explain(server, ["shop"], request(signature(BODY, SECRET).slice("sha256=".length)));
  assert.equal(right.code, 0);
  assert.match(right.stdout, /^routes +yes +taken by paid$/m);
  assert.match(right.stderr, /^The server would answer 200\.$/m);
  const prefixed = await explain(server, ["shop"], request(signature(BODY, SECRET)));
  assert.equal(prefixed.code, 1);
  assert.match(prefixed.stderr, /^ {2}verify: \{ header: x-sig, prefix: "sha256=" \}$/m);
  assert.match(
    prefixed.stderr,
    /^The delivery is not genuine\.\nThe server would answer 403: signature_mismatch, malformed_signature\.$/m,
  );
  const wrong = await explain(server, ["shop"], request(PLAUSIBLE));
  assert.match(wrong.stdout, /not made with env:SHOP_SECRET: copy/);
  assert.match(wrong.stderr, /^The server would answer 403: signature_mismatch\.$/m);
});

test("requests to a mistyped path are shown with the one that was meant, also to sources list", async (t) => {
  const server = await serverOf(FILE, { SHOP_SECRET: SECRET });
  t.after(() => server[Symbol.asyncDispose]());
  for (const path of ["/webhook/shpo", "/wp-login.php"]) {
    const unsigned = request(PLAUSIBLE).replace("/webhook/shop", path).replace("X-Sig", "X-Other");
    assert.equal((await sendRaw(server.port, unsigned)).status, 404);
  }
  await until(async () => (await server.run(["sources", "list"])).stderr.includes("shpo"));
  const listed = await server.run(["sources", "list"]);
  assert.match(
    listed.stderr,
    /^warning: no source has the path \/webhook\/shpo, .* from 127\.0\.0\.1\): did you mean \/webhook\/shop\?$/m,
  );
  assert.doesNotMatch(listed.stderr, /wp-login/);
  const explained = await explain(server, ["shop"], request(PLAUSIBLE));
  assert.match(explained.stderr, /did you mean \/webhook\/shop\?$/m);
});

test("an explanation prints nothing that a terminal obeys", async (t) => {
  const server = await serverOf(FILE, { SHOP_SECRET: SECRET });
  t.after(() => server[Symbol.asyncDispose]());
  const evil = "\u001b]0;x\u0007\u009b31m";
  const body = JSON.stringify({ id: evil, type: evil }).replaceAll("\\u009b", "\u009b");
  const head = `Content-Type: text/\u001b[31m\u009b1m\r\nContent-Encoding: ${evil}\r\nX-\u009bA: ${evil}\r\n`;
  const input = Buffer.concat([
    Buffer.from(
      `POST /web\u001b[31mhook\u009b HTTP/1.1\r\nX-Sig: ${signature(body, SECRET).slice("sha256=".length)}\r\n${head}\r\n`,
      "latin1",
    ),
    Buffer.from(body),
  ]);
  for (const args of [["shop"], ["shop", "--json"]]) {
    const { code, stdout, stderr } = await explain(server, args, input);
    assert.equal(code, 1, stderr);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
    assert.doesNotMatch(stdout + stderr, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
  }
});

test("a held delivery is shown without its secrets, and explained as of its receipt", async (t) => {
  const server = await serverOf(FILE, { SHOP_SECRET: "another secret of the shop" });
  t.after(() => server[Symbol.asyncDispose]());
  const sig = signature(BODY, SECRET).slice("sha256=".length);
  for (const sent of [sig, PLAUSIBLE]) {
    assert.equal((await sendRaw(server.port, request(sent, "X-Api-Token: t0k3n\r\n"))).status, 403);
  }
  const shown = await server.run(["events", "held", "show", "1"]);
  assert.match(shown.stdout, /^reason +signature_mismatch$/m);
  assert.match(shown.stdout, /^header +x-sig: … \(64 characters\)$/m);
  assert.doesNotMatch(shown.stdout, new RegExp(`x-api-token|t0k3n|${sig}`));
  assert.ok(shown.stdout.includes(BODY));
  const json = JSON.parse((await server.run(["events", "held", "show", "1", "--json"])).stdout) as object;
  assert.equal((json as { payload: string }).payload, BODY);

  const mended = { dir: server.dir, env: { ...server.env, SHOP_SECRET: SECRET } };
  const explainHeld = (id: string) => authserve(["sources", "explain", "--held", id, "--json"], mended);
  assert.deepEqual([(await explainHeld("1")).code, (await explainHeld("2")).code], [0, 1]);
  const raw = await server.run(["events", "held", "show", "1", "--raw"]);
  assert.match(raw.stderr, /credentials/);
  assert.equal((await authserve(["sources", "explain", "shop"], { ...mended, input: raw.stdout })).code, 0);
  const missing = await server.run(["events", "held", "show", "99"]);
  assert.equal(missing.code, 1);
  assert.match(missing.stderr, /There is no held delivery 99/);
});
