import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { ask, logIn } from "../helpers/client.ts";
import { EXECUTABLE, startProgram } from "../helpers/command.ts";
import { type Server, startServer } from "../helpers/server.ts";
import { signature } from "../helpers/sign.ts";
import { startTarget } from "../helpers/target.ts";
import type { Cleanup } from "../helpers/temp-dir.ts";
import { until } from "../helpers/until.ts";
import { workingDir } from "../helpers/working-dir.ts";

const SECRET = "a secret of the source";
/** The text that is searched. */
const CARD = "4929-planted-8827";
/** In no body, so that only encryption hides it. */
const NOTE = "note-planted-5561";

const FILE = `sources:
  shop:
    verify: { header: x-sig }
    secrets: [env:SHOP_SECRET]
    redact: [data.card, "**.email"]
    keepRejected: {}
  forms:
    verify: { header: x-sig }
    secrets: [env:SHOP_SECRET]
    contentTypes: [application/x-www-form-urlencoded]
    id: body:id
    redact: [data.card, "**.email"]
    keepRejected: {}
routes:
  - { name: app, to: "TARGET_URL", transform: { jsonata: '{ "copy": $ }' }, retry: { delays: [1ms] } }
  - { name: trial, http: { url: "TARGET_URL" }, shadow: { of: app } }
`;

function filesWith(dir: string, text: string): string[] {
  return readdirSync(dir, { recursive: true, encoding: "utf8" }).filter(
    (name) => statSync(join(dir, name)).isFile() && readFileSync(join(dir, name)).includes(text),
  );
}

/** The scan of a store. `dumpWith` tells whether a dump of the database has a text. */
export function privatePayloadSuite(
  store: string,
  settingsOf: (context: Cleanup) => Promise<Record<string, string>>,
  dumpWith: (server: Server, text: string) => boolean,
): void {
  suite(`private payloads on ${store}`, () => {
    test("a redacted text is in no file and no log, and no other one is after the encryption", async (t) => {
      const dir = workingDir();
      const target = await startTarget();
      t.after(() => target[Symbol.asyncDispose]());
      // Each attempt fails once, and its answer repeats what was sent.
      const seen = new Set<string>();
      target.answer(({ body, headers }, response) => {
        const attempt = `${headers["idempotency-key"]} ${body.length}`;
        response.writeHead(seen.has(attempt) ? 200 : 500).end(body);
        seen.add(attempt);
      });
      writeFileSync(join(dir, "authserve.yaml"), FILE.replaceAll("TARGET_URL", target.url));
      const settings = { ...(await settingsOf(t)), SHOP_SECRET: SECRET };
      const server = await startServer({ dir, env: settings });
      t.after(() => server[Symbol.asyncDispose]());
      const sendTo = async (path: string, type: string, body: string, sig?: string) => {
        const headers = {
          "Content-Type": type,
          "X-Sig": sig ?? signature(body, SECRET).slice("sha256=".length),
          "X-Card": `card ${CARD}`,
          "X-Note": NOTE,
        };
        return (await ask(server, path, { method: "POST", body, headers })).status;
      };
      const jsonOf = (id: string) =>
        JSON.stringify({ id, type: "paid", data: { card: CARD, note: NOTE }, list: [{ email: CARD }] });
      const send = (id: string, sig?: string) => sendTo("/webhook/shop", "application/json", jsonOf(id), sig);
      const sendForm = (fields: Record<string, string>, sig?: string) => {
        const body = new URLSearchParams({ ...fields, note: NOTE }).toString();
        return sendTo("/webhook/forms", "application/x-www-form-urlencoded", body, sig);
      };
      for (let n = 0; n < 30; n++) assert.equal(await send(`evt_${n}`), 200);
      assert.equal(await send("evt_refused", "00".repeat(32)), 403);
      assert.equal(await sendForm({ id: "form_1", "data[card]": CARD, email: CARD }), 200);
      assert.equal(await sendForm({ payload: jsonOf("form_2") }), 200);
      assert.equal(await sendForm({ id: "form_3", "data.card": CARD }, "00".repeat(32)), 403);
      const counts = async () => JSON.parse((await server.run(["events", "stats", "--json"])).stdout);
      await until(async () => (await counts()).processed === 32);
      await until(() => target.received.length >= 64 + 32);
      assert.doesNotMatch(JSON.stringify(target.received.map(({ body }) => String(body))), new RegExp(CARD));
      const headers = { Authorization: `Bearer ${await logIn(server)}` };
      const read = async (path: string) => (await ask(server, `/admin/api/${path}`, { headers })).text;
      const listen = ["listen", "--print", "--from-start", "--json"];
      const listening = startProgram(EXECUTABLE, listen, { dir, env: server.env });
      await until(() => listening.stdout().includes("form_2"));
      listening.child.kill();
      await listening.exited;
      const printed = async (...args: string[]) => {
        const { code, signal, stdout, stderr } = await server.run(args);
        assert.deepEqual([code, signal], [0, null], `${args.join(" ")}: ${stderr}`);
        return stdout;
      };
      const held = JSON.parse(await printed("events", "held", "--json")) as { id: number; source: string }[];
      const form = held.find(({ source }) => source === "forms");
      for (const text of [
        listening.stdout(),
        ...(await Promise.all(
          ["events", "events/evt_1", "events/form_2", "shadows/differences?name=trial", "held"].map(read),
        )),
        await printed("events", "show", "evt_2", "--json"),
        await printed("routes", "test", "app", "--since", "1h", "--json"),
        await printed("events", "held", "show", String(form?.id), "--raw"),
      ])
        assert.deepEqual([text.length > 0, text.includes(CARD)], [true, false], text.slice(0, 200));
      await server.run(["backup", join(dir, "data", "backup.db")]);
      await server.stop();
      assert.deepEqual([filesWith(dir, CARD), dumpWith(server, CARD)], [[], false]);
      assert.doesNotMatch(server.stdout() + server.stderr(), new RegExp(`${CARD}|${NOTE}`));
      assert.ok(filesWith(dir, NOTE).length > 0 || dumpWith(server, NOTE));

      const key = join(dir, "encryption.key");
      writeFileSync(key, randomBytes(32).toString("hex"), { mode: 0o600 });
      const { code, stderr } = await server.run(["encrypt"], { ENCRYPTION_KEYS: key });
      assert.equal(code, 0, stderr);
      await server.run(["backup", "--force", join(dir, "data", "backup.db")]);
      assert.deepEqual([filesWith(dir, NOTE), dumpWith(server, NOTE)], [[], false]);
    });
  });
}
