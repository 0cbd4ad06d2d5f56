import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { AppError } from "../../src/errors.ts";
import type { ConnectionRefusal } from "../../src/http/connection-limits.ts";
import { createHttpServer } from "../../src/http/server.ts";
import { until } from "../helpers/until.ts";

interface Limits {
  all?: number;
  perAddress?: number;
  isExempt?: (address: string) => boolean;
}

/** A server with limits, the connections that it refused, and a client that connects from an address. */
async function open(t: TestContext, { all = 100, perAddress = 100, isExempt = () => false }: Limits) {
  const refused: ConnectionRefusal[] = [];
  const connectionLimits = {
    all,
    perAddress,
    isExempt,
    onRefused: (reason: ConnectionRefusal) => refused.push(reason),
  };
  const server = createHttpServer((_, response) => void response.end("ok"), {
    tls: undefined,
    refusal: () => new AppError("not_found"),
    connectionLimits,
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  t.after(() => server.close());

  const connectFrom = (localAddress: string): Socket => {
    const socket = connect({ port, host: "127.0.0.1", localAddress });
    socket.on("error", () => {});
    t.after(() => socket.destroy());
    return socket.resume();
  };
  const isServed = async (socket: Socket): Promise<boolean> => {
    socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    const answered = once(socket, "data").then(() => true);
    return Promise.race([answered, once(socket, "close").then(() => false)]);
  };
  return { refused, connectFrom, isServed };
}

test("connections beyond the limit of an address are refused, and other addresses are still served", async (t) => {
  const { refused, connectFrom, isServed } = await open(t, { perAddress: 2 });
  const first = connectFrom("127.0.0.1");
  assert.ok(await isServed(first));
  assert.ok(await isServed(connectFrom("127.0.0.1")));
  assert.ok(!(await isServed(connectFrom("127.0.0.1"))));
  assert.deepEqual(refused, ["address"]);
  assert.ok(await isServed(connectFrom("127.0.0.2")));

  first.destroy();
  await until(() => isServed(connectFrom("127.0.0.1")));
});

test("an exempt address has no limit of its own", async (t) => {
  const { refused, connectFrom, isServed } = await open(t, { perAddress: 1, isExempt: (it) => it === "127.0.0.1" });
  for (let n = 0; n < 3; n++) assert.ok(await isServed(connectFrom("127.0.0.1")));
  assert.deepEqual(refused, []);
});

test("connections beyond the total limit are refused", async (t) => {
  const { refused, connectFrom, isServed } = await open(t, { all: 2, isExempt: () => true });
  assert.ok(await isServed(connectFrom("127.0.0.1")));
  assert.ok(await isServed(connectFrom("127.0.0.2")));
  assert.ok(!(await isServed(connectFrom("127.0.0.3"))));
  assert.deepEqual(refused, ["all"]);
});
