import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { ask, assertProblem, deliver, event, logIn, me } from "../helpers/client.ts";
import { EXECUTABLE, startProgram } from "../helpers/command.ts";
import { freePort } from "../helpers/ports.ts";
import { sendRaw, statusesIn } from "../helpers/raw-http.ts";
import { settings } from "../helpers/server.ts";
import { until } from "../helpers/until.ts";
import { workingDir } from "../helpers/working-dir.ts";

test("a log that cannot be written affects no responses and does not end the process", async () => {
  const dir = workingDir();
  const port = await freePort();
  const env = settings(dir, { PORT: String(port), LOG_LEVEL: "debug" });
  const command = startProgram("sh", ["-c", 'exec "$0" serve >/dev/full', EXECUTABLE], { dir, env });
  const server = { url: `http://127.0.0.1:${port}`, port };
  try {
    await until(() =>
      ask(server, "/healthz").then(
        ({ status }) => status === 200,
        () => false,
      ),
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

test("a log pipe that nobody reads blocks neither the server nor its stop, and dropped lines are counted", async () => {
  const dir = workingDir();
  const port = await freePort();
  const env = { PATH: process.env.PATH, ...settings(dir, { PORT: String(port) }) };
  const child = spawn(EXECUTABLE, ["serve"], { cwd: dir, env, stdio: ["ignore", "pipe", "ignore"] });
  const exited = once(child, "exit");
  try {
    const isUp = () =>
      fetch(`http://127.0.0.1:${port}/healthz`).then(
        ({ ok }) => ok,
        () => false,
      );
    await until(isUp);
    // 250 bytes each: more than the pipe and the server buffer.
    const many = `GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n`.repeat(50);
    for (let n = 0; n < 160; n++) {
      const last = "GET /nothing HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
      assert.equal(statusesIn((await sendRaw(port, many + last)).text).length, 51);
    }
    assert.ok(await isUp());
    let text = "";
    child.stdout.on("data", (chunk) => {
      text += chunk;
    });
    // The pipe may have had room for a moment, so there may be several lines about it.
    const dropped = () =>
      [...text.matchAll(/^.*"event":"log_lines_dropped".*$/gm)].reduce(
        (sum, [line]) => sum + JSON.parse(line).count,
        0,
      );
    await until(async () => {
      await sendRaw(port, "GET /nothing HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
      return dropped() > 1000;
    });

    child.stdout.pause();
    for (let n = 0; n < 20; n++)
      await sendRaw(port, `${many}GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
    child.kill("SIGTERM");
    assert.deepEqual(await exited, [0, null]);
  } finally {
    child.kill("SIGKILL");
  }
});
