import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, type TestContext, test } from "node:test";
import { ask, assertProblem, deliver, logIn, logOut } from "../helpers/client.ts";
import { type Server, startServer } from "../helpers/server.ts";
import { workingDir } from "../helpers/working-dir.ts";

const ROUTES = `
routes:
  - { name: billing, types: ["invoice.*"], when: { data.object.amount: { gte: 100 } }, log: {} }
`;

async function start(t: TestContext) {
  const dir = workingDir();
  writeFileSync(join(dir, "authserve.yaml"), ROUTES);
  const server = await startServer({ dir });
  t.after(() => server[Symbol.asyncDispose]());
  const token = (await server.run(["tokens", "create", "laptop", "--scope", "listen"])).stdout.trim();
  return { server, listen: listener(server, token) };
}

interface Line {
  cursor: string;
  eventId?: string;
  payload?: string;
  headers?: Record<string, string>;
  waiting?: number;
}

/** Asks for events, as the holder of a token. */
const listener =
  (server: Server, token: string) =>
  async (query = "") => {
    const answer = await ask(server, `/admin/api/listen${query}`, { headers: { Authorization: `Bearer ${token}` } });
    const lines = answer.status === 200 ? answer.text.trimEnd().split("\n") : [];
    const parsed = lines.map((line) => JSON.parse(line) as Line);
    return { ...answer, events: parsed.slice(0, -1), last: parsed.at(-1) ?? { cursor: "" } };
  };

const ids = ({ events }: { events: Line[] }) => events.map(({ eventId }) => eventId);
async function send(server: Server, id: string, type = "push", amount = 0): Promise<void> {
  const answer = await deliver(server, JSON.stringify({ id, type, data: { object: { amount } } }));
  assert.equal(answer.status, 200, answer.text);
}

suite("GET /admin/api/listen", () => {
  test("answers with what comes behind the cursor, once, as it came", async (t) => {
    const { server, listen } = await start(t);
    await send(server, "before");
    const { last, events } = await listen();
    assert.deepEqual(events, []);
    const held = listen(`?after=${last.cursor}`);
    await send(server, "evt_1");
    const first = await held;
    assert.equal(first.headers.get("content-type"), "application/x-ndjson");
    assert.deepEqual(ids(first), ["evt_1"]);
    assert.match(first.events[0]?.payload ?? "", /^\{"id":"evt_1"/);
    await send(server, "evt_2");
    assert.deepEqual(ids(await listen(`?after=${first.last.cursor}`)), ["evt_2"]);
    assert.deepEqual(ids(await listen(`?after=${last.cursor}`)), ["evt_1", "evt_2"]);
    const one = await listen(`?after=${last.cursor}&limit=1`);
    assert.deepEqual(ids(one), ["evt_1"]);
    assert.deepEqual(ids(await listen(`?after=${one.last.cursor}`)), ["evt_2"]);
    const since = await listen("?since=2020-01-01");
    assert.deepEqual(ids(await listen(`?after=${since.last.cursor}`)), ["before", "evt_1", "evt_2"]);
    assert.equal((await listen(`?after=${since.last.cursor}&count=2`)).last.waiting, 3);
    assert.equal((await listen(`?after=${last.cursor}&count=9`)).last.waiting, 2);
  });

  test("leaves out what the filters do not name", async (t) => {
    const { server, listen } = await start(t);
    const { last } = await listen();
    const held = [
      listen(`?after=${last.cursor}&type=push`),
      listen(`?after=${last.cursor}&route=billing`),
      listen(`?after=${last.cursor}&source=default&type=invoice.paid`),
    ];
    await send(server, "small", "invoice.paid", 99);
    await send(server, "large", "invoice.paid", 100);
    await send(server, "push");
    const [byType, byRoute, both] = await Promise.all(held);
    assert.deepEqual(byType && ids(byType), ["push"]);
    assert.deepEqual(byRoute && ids(byRoute), ["large"]);
    assert.equal(both && ids(both)[0], "small");
    assert.deepEqual(ids(await listen(`?after=${last.cursor}&route=billing`)), ["large"]);
    assert.equal((await listen(`?after=${last.cursor}&route=billing&count=9`)).last.waiting, 1);
    const unknown = await listen(`?after=${last.cursor}&route=none`);
    assertProblem(unknown, 400, "validation_failed");
    assertProblem(await listen("?after=9"), 400, "validation_failed");
  });

  test("needs the scope, and ends with its token or session", async (t) => {
    const { server, listen } = await start(t);
    const { last } = await listen();
    const other = (await server.run(["tokens", "create", "other", "--scope", "events:read"])).stdout.trim();
    assertProblem(await listener(server, other)(), 403, "insufficient_scope");
    const session = await logIn(server);
    const held = [listen(`?after=${last.cursor}`), listener(server, session)(`?after=${last.cursor}`)];
    await server.run(["tokens", "revoke", "laptop"]);
    await logOut(server, session);
    const [byToken, bySession] = await Promise.all(held);
    assertProblem(byToken as never, 401, "invalid_token");
    assertProblem(bySession as never, 401, "session_invalidated");
  });

  test("does not keep the server from stopping", async (t) => {
    const { server, listen } = await start(t);
    const { last } = await listen();
    const held = listen(`?after=${last.cursor}`);
    // The held request has arrived before this one.
    await ask(server, "/healthz");
    assert.equal((await server.stop()).code, 0);
    const answer = await held;
    assert.deepEqual([answer.status, answer.events, answer.last.cursor], [200, [], last.cursor]);
  });
});
