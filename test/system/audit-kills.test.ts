import assert from "node:assert/strict";
import { test } from "node:test";
import { logIn, post } from "../helpers/client.ts";
import { EXECUTABLE, startProgram } from "../helpers/command.ts";
import { type Server, startServer } from "../helpers/server.ts";
import { workingDir } from "../helpers/working-dir.ts";

const ROUNDS = Number(process.env.AUDIT_ROUNDS ?? 6);

/** The tokens that exist and have no row in the audit, and the number of those that exist. */
async function unaudited(server: Server): Promise<{ missing: string[]; made: number }> {
  const read = async (...args: string[]) => JSON.parse((await server.run([...args, "--json"])).stdout);
  const tokens = (await read("tokens", "list")) as { name: string }[];
  const rows = (await read("audit", "list", "--limit", "10000")) as { detail: { name?: string } }[];
  const named = new Set(rows.map(({ detail }) => detail.name));
  return { missing: tokens.map(({ name }) => name).filter((name) => !named.has(name)), made: tokens.length };
}

test("a command that is killed at any moment leaves no change without a row", async () => {
  await using server = await startServer();
  const create = (name: string) =>
    startProgram(EXECUTABLE, ["tokens", "create", name, "--scope", "metrics"], { dir: server.dir, env: server.env });
  const startedAt = performance.now();
  await create("whole").exited;
  const tookMs = performance.now() - startedAt;
  for (let round = 0; round < ROUNDS; round++) {
    const { child, exited } = create(`t${round}`);
    // Most rows are written in the last part.
    const timer = setTimeout(() => child.kill("SIGKILL"), tookMs * (0.6 + (0.5 * round) / ROUNDS));
    await exited;
    clearTimeout(timer);
  }
  const { missing, made } = await unaudited(server);
  assert.deepEqual(missing, []);
  assert.ok(made > 0);
});

test("a server that is killed between changes leaves none without a row", async () => {
  const dir = workingDir();
  for (let round = 0; round < Math.ceil(ROUNDS / 2); round++) {
    await using server = await startServer({ dir });
    const headers = { Authorization: `Bearer ${await logIn(server)}` };
    let made = 0;
    const change = async (lane: number) => {
      for (let n = 0; ; n++) {
        const body = { name: `r${round}-${lane}-${n}`, scopes: ["metrics"] };
        if ((await post(server, "/admin/api/tokens", body, headers)).status !== 200) return;
        if (++made === 20) void server.kill();
      }
    };
    await Promise.allSettled([0, 1, 2, 3].map(change));
  }
  await using server = await startServer({ dir });
  const { missing, made } = await unaudited(server);
  assert.deepEqual(missing, []);
  assert.ok(made > 0);
});
