import assert from "node:assert/strict";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { AppError } from "../../src/errors.ts";
import { closeServer } from "../../src/http/connections.ts";
import { createHttpServer } from "../../src/http/server.ts";
import { gather, HEALTH, openRaw, statusesIn } from "../helpers/raw-http.ts";
import { HANG_MS, until } from "../helpers/until.ts";
import { work } from "../helpers/work.ts";

test("a server that stalls while it closes answers the requests that have come meanwhile", async () => {
  const refusal = () => new AppError("not_found");
  const server = createHttpServer((_, response) => void response.end("ok"), { tls: undefined, refusal });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const socket = await openRaw((server.address() as AddressInfo).port);
  const received = gather(socket);
  const ended = once(socket, "close");
  socket.write(HEALTH);
  await until(() => statusesIn(received()).length === 1);
  const closed = closeServer(server, HANG_MS);
  // Timers come next, and then what has come.
  await setImmediate();
  socket.write(HEALTH);
  // Longer than an idle connection stays open.
  work(300);
  await ended;
  assert.deepEqual(statusesIn(received()), [200, 200]);
  await closed;
});
