import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { deliver, event } from "../helpers/client.ts";
import { startServer } from "../helpers/server.ts";
import { settled } from "../helpers/stored-events.ts";
import { startTarget } from "../helpers/target.ts";
import { until } from "../helpers/until.ts";
import { workingDir } from "../helpers/working-dir.ts";

test("a retry, a restart with another expression and a replay send the same bytes, until they are made anew", async () => {
  const dir = workingDir();
  await using target = await startTarget();
  const configure = (expression: string) =>
    writeFileSync(
      join(dir, "authserve.yaml"),
      `routes:
  - name: chat
    transform: { jsonata: "${expression}" }
    retry: { delays: [1s, 1s, 1s] }
    http: { url: "${target.url}", method: PUT, headers: { Authorization: "Bearer \${env:TOKEN}" } }
`,
    );
  const env = { TOKEN: "a token of the tests", FORWARD_URL: undefined };
  target.answer((_, response) => response.writeHead(500).end());
  configure("{ 'id': $.id, 'big': $.big, 'once': $random() }");
  const first = await startServer({ dir, env });
  const body = JSON.stringify(event("evt_1")).replace("}", ',"big":12345678901234567890}');
  assert.equal((await deliver(first, body)).status, 200);
  await until(() => target.received.length >= 2);
  await first.kill();

  configure("'changed'");
  target.answer((_, response) => response.writeHead(204).end());
  await using second = await startServer({ dir, env });
  await settled(second, "evt_1");
  const attempts = target.received.length;
  await second.run(["events", "replay", "evt_1", "--force"]);
  await until(() => target.received.length === attempts + 1);
  const sent = new Set(target.received.map(({ body }) => body.toString()));
  assert.equal(sent.size, 1);
  assert.match([...sent].join(), /^\{"id":"evt_1","big":12345678901234567890,"once":0\.\d+\}$/);
  assert.equal(target.received[0]?.headers.authorization, "Bearer a token of the tests");
  assert.equal(target.received[0]?.headers["content-type"], "application/json");

  await until(async () => (await second.run(["events", "list", "--status", "processed"])).stdout.includes("evt_1"));
  await second.run(["events", "replay", "evt_1", "--force", "--transform"]);
  await until(() => target.received.length === attempts + 2);
  assert.equal(target.received.at(-1)?.body.toString(), "changed");
});
