import assert from "node:assert/strict";
import { test } from "node:test";
import { findPort } from "../../src/http/listen.ts";
import { ask, assertProblem, deliver, event, logIn, me } from "../helpers/client.ts";
import { EXECUTABLE, startProgram } from "../helpers/command.ts";
import { settings } from "../helpers/server.ts";
import { until } from "../helpers/until.ts";
import { workingDir } from "../helpers/working-dir.ts";

test("a log that cannot be written costs no answer and no process", async () => {
  const dir = workingDir();
  const port = await findPort({ port: 0, host: "127.0.0.1" });
  const env = settings(dir, { PORT: String(port), LOG_LEVEL: "debug" });
  const command = startProgram("sh", ["-c", 'exec "$0" serve >/dev/full', EXECUTABLE], { dir, env });
  const server = { url: `http://127.0.0.1:${port}`, port };
  try {
    await until(
      () =>
        ask(server, "/healthz").then(
          ({ status }) => status === 200,
          () => false,
        ),
      15_000,
    );
    for (let index = 0; index < 20; index++) {
      assert.equal((await deliver(server, event(`evt_${index}`))).status, 200);
      assertProblem(await me(server, "no.such.token"), 401, "invalid_token");
    }
    assert.equal((await me(server, await logIn(server))).status, 200);
    command.child.kill("SIGTERM");
    assert.deepEqual(await command.exited, { code: 0, signal: null });
  } finally {
    command.child.kill("SIGKILL");
  }
});
