import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { ask } from "../helpers/client.ts";
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
routes:
  - { name: app, to: "TARGET_URL", transform: { jsonata: '{ "copy": $ }' }, retry: { attempts: 1 } }
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
      writeFileSync(join(dir, "authserve.yaml"), FILE.replace("TARGET_URL", target.url));
      const settings = { ...(await settingsOf(t)), SHOP_SECRET: SECRET };
      const server = await startServer({ dir, env: settings });
      t.after(() => server[Symbol.asyncDispose]());
      const send = async (id: string, sig?: string) => {
        const body = JSON.stringify({ id, type: "paid", data: { card: CARD, note: NOTE }, list: [{ email: CARD }] });
        const headers = {
          "Content-Type": "application/json",
          "X-Sig": sig ?? signature(body, SECRET).slice("sha256=".length),
          "X-Card": `card ${CARD}`,
          "X-Note": NOTE,
        };
        return (await ask(server, "/webhook/shop", { method: "POST", body, headers })).status;
      };
      for (let n = 0; n < 30; n++) assert.equal(await send(`evt_${n}`), 200);
      assert.equal(await send("evt_refused", "00".repeat(32)), 403);
      await until(() => target.received.length >= 30);
      assert.doesNotMatch(JSON.stringify(target.received.map(({ body }) => String(body))), new RegExp(CARD));
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
