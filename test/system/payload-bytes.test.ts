import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { ask, logIn } from "../helpers/client.ts";
import { EXECUTABLE } from "../helpers/command.ts";
import { settings, startServer } from "../helpers/server.ts";
import { startTarget } from "../helpers/target.ts";
import { until } from "../helpers/until.ts";
import { workingDir } from "../helpers/working-dir.ts";

const SECRET = "a secret of the source";
const BYTES = Buffer.from(Array.from({ length: 256 }, (_, value) => value));
const BASE64 = BYTES.toString("base64");
const OTHER = Buffer.from([0xfe, 0xff]);

const target = await startTarget();
const dir = workingDir();
writeFileSync(join(dir, "code.mjs"), `export default ({ body }) => body.toString("base64");`);
writeFileSync(join(dir, "payload.bin"), BYTES);
writeFileSync(
  join(dir, "authserve.yaml"),
  `sources:
  bytes:
    verify: { header: x-sig }
    secrets: [env:SECRET]
    contentTypes: ["*/*"]
    id: header:x-id
    dedupe: id
    keepRejected: {}
routes:
  - { name: code, module: { file: ./code.mjs } }
  - { name: command, exec: { command: [base64, -w0] } }
  - { name: target, to: "${target.url}" }
`,
);
const env = { SECRET };
const server = await startServer({ dir, env });
after(() => server[Symbol.asyncDispose]());
after(() => target[Symbol.asyncDispose]());

function deliver(id: string, body: Buffer, secret = SECRET) {
  const signature = createHmac("sha256", secret).update(body).digest("hex");
  const headers = { "Content-Type": "image/png", "X-Id": id, "X-Sig": signature };
  return ask(server, "/webhook/bytes", { method: "POST", body, headers });
}

interface Shown {
  payload: string;
  payloadBase64?: string;
  conflicts: { payload: string | null; payloadBase64?: string }[];
  jobs: { route: string; history: { response: string | null }[] }[];
}

async function printed<T>(...args: string[]): Promise<T> {
  const { code, stdout, stderr } = await server.run([...args, "--json"]);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout) as T;
}

test("each way out of a payload that is not UTF-8 has its bytes", async () => {
  assert.equal((await deliver("evt_1", BYTES)).status, 200);
  await until(() => server.log("event_processed").length === 3);
  assert.ok(target.received[0]?.body.equals(BYTES));
  await deliver("evt_1", OTHER);
  const headers = { Authorization: `Bearer ${await logIn(server)}` };
  const file = await fetch(`${server.url}/admin/api/events/evt_1/payload`, { headers });
  assert.ok(Buffer.from(await file.arrayBuffer()).equals(BYTES));
  const answered = (await ask(server, "/admin/api/events/evt_1", { headers })).json as unknown as Shown;
  for (const shown of [answered, await printed<Shown>("events", "show", "evt_1")]) {
    assert.deepEqual([shown.payload, shown.payloadBase64], [BYTES.toString("utf8"), BASE64]);
    assert.deepEqual(
      shown.conflicts.map(({ payloadBase64 }) => payloadBase64),
      [OTHER.toString("base64")],
    );
    const outputs = shown.jobs.map(({ route, history }) => [route, history[0]?.response]);
    assert.deepEqual(outputs, [
      ["code", BASE64],
      ["command", BASE64],
      ["target", null],
    ]);
  }
});

test("a held delivery that is not UTF-8 is shown and written with its bytes", async () => {
  assert.equal((await deliver("evt_held", BYTES, "another secret")).status, 403);
  const [held] = await printed<{ id: number }[]>("events", "held");
  const id = String(held?.id);
  const shown = await printed<Shown>("events", "held", "show", id);
  assert.deepEqual([shown.payload, shown.payloadBase64], [BYTES.toString("utf8"), BASE64]);
  const command = { cwd: dir, env: { PATH: process.env.PATH, ...settings(dir, env) } };
  const raw = execFileSync(EXECUTABLE, ["events", "held", "show", id, "--raw"], { ...command, stdio: "pipe" });
  assert.ok(raw.subarray(-BYTES.length).equals(BYTES));
});

test("send delivers a file that is not UTF-8 as it is", async () => {
  const { code, stderr } = await server.run(["send", "--source", "bytes", "--id", "evt_sent", "--body", "payload.bin"]);
  assert.equal(code, 0, stderr);
  await until(() => target.of("evt_sent").length > 0);
  assert.ok(target.of("evt_sent")[0]?.body.equals(BYTES));
});

test("a payload that is UTF-8 has no Base64", async () => {
  await deliver("evt_text", Buffer.from("\ufeffé\0"));
  const shown = await printed<Shown>("events", "show", "evt_text");
  assert.deepEqual([shown.payload, "payloadBase64" in shown], ["\ufeffé\0", false]);
});
