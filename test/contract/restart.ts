import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, type TestContext, test } from "node:test";
import type { RecentRefusal } from "../../src/admin/page/answers.ts";
import { DATABASE_SETTING_NAMES, REDIS_SETTING_NAMES, readSettings } from "../../src/config/settings.ts";
import { createLog } from "../../src/log.ts";
import { openCommandStores } from "../../src/stores.ts";
import { ask, deliver, logIn } from "../helpers/client.ts";
import { type Server, startServer } from "../helpers/server.ts";
import { until } from "../helpers/until.ts";
import { workingDir } from "../helpers/working-dir.ts";

/** Starts a server again and again in one folder, with a source of GitHub and `default`, whose sender is not known. */
function restarting(t: TestContext, env: Record<string, string>) {
  const dir = workingDir();
  writeFileSync(join(dir, "authserve.yaml"), "sources: { code: { preset: github, secrets: [env:SECRET] } }\n");
  const running: { server: Server | null } = { server: null };
  t.after(() => running.server?.[Symbol.asyncDispose]());
  return async () => {
    running.server = await startServer({ dir, env: { SECRET: "a secret of the restarts", ...env } });
    return running.server;
  };
}

interface ListedOutage {
  kind: string;
  sources: { name: string; atRisk: boolean; remedy: string | null }[];
}

const outagesOf = async (server: Server): Promise<ListedOutage[]> =>
  JSON.parse((await server.run(["outages", "--json"])).stdout);

async function refusalsOf(server: Server): Promise<RecentRefusal[]> {
  const headers = { Authorization: `Bearer ${await logIn(server)}` };
  return (await ask(server, "/admin/api/refusals", { headers })).json.items as RecentRefusal[];
}

/** Reads the store of a running server. */
async function storedRefusals({ env }: Server) {
  const names = ["DATA_DIR", "ENCRYPTION_KEYS", ...DATABASE_SETTING_NAMES, ...REDIS_SETTING_NAMES] as const;
  const stores = await openCommandStores(readSettings(env, names), createLog("silent"));
  try {
    return await stores.refusals.list(0);
  } finally {
    await stores.close();
  }
}

/** What a restart leaves behind. `listsShort`: whether the database lists outages of a few seconds. */
export function restartSuite(
  adapter: string,
  { envOf, listsShort }: { envOf: (t: TestContext) => Promise<Record<string, string>>; listsShort: boolean },
): void {
  suite(`a restart, on ${adapter}`, () => {
    test("in order puts at risk only what is never repeated, and a crash what may not be", async (t) => {
      const start = restarting(t, await envOf(t));
      let server = await start();
      // On a machine that stands still it takes longer than a planned one, and is tried again.
      const planned = await until(async () => {
        const before = (await outagesOf(server)).length;
        assert.equal((await server.stop()).code, 0);
        server = await start();
        const outages = await until(async () => {
          const found = await outagesOf(server);
          return found.length > before || !listsShort ? found.slice(before) : null;
        });
        return outages.every(({ kind }) => kind === "restart") ? outages : null;
      });
      const atRisk = planned.map(({ sources }) => sources.filter((source) => source.atRisk).map(({ name }) => name));
      assert.deepEqual(atRisk, listsShort ? [["code"]] : []);
      if (!listsShort) return;
      await server.kill();
      server = await start();
      const crash = await until(async () => (await outagesOf(server)).findLast(({ kind }) => kind === "stopped"));
      assert.deepEqual(
        crash.sources.map(({ name, atRisk }) => [name, atRisk]),
        [
          ["default", true],
          ["code", true],
        ],
      );
      const { stdout } = await server.run(["outages"]);
      assert.match(stdout, /: a planned restart stopped the server for \d+/);
    });

    test("keeps the newest refused deliveries, and so does a crash some seconds later", async (t) => {
      const start = restarting(t, await envOf(t));
      let server = await start();
      for (const id of ["a", "b", "c"]) await deliver(server, { id }, { "X-Signature": "no signature" });
      const listed = (await refusalsOf(server)).map(({ source, reason, address }) => [source, reason, address]);
      assert.deepEqual(listed, Array(3).fill(["default", "malformed_signature", "127.0.0.1"]));
      const before = await refusalsOf(server);
      assert.equal((await server.stop()).code, 0);

      server = await start();
      await until(async () => (await refusalsOf(server)).length === 3);
      assert.deepEqual(await refusalsOf(server), before);
      await deliver(server, { id: "d" }, { "X-Signature": "" });
      const after = await refusalsOf(server);
      await until(async () => (await storedRefusals(server)).length === 4);
      await server.kill();

      server = await start();
      await until(async () => (await refusalsOf(server)).length === 4);
      assert.deepEqual(await refusalsOf(server), after);
    });
  });
}
