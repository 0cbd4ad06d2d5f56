import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { suite, test } from "node:test";
import { describeError, exitCodeOf } from "../src/errors.ts";

suite("the description of an error", () => {
  test("has the reason for each address of a host that could not be reached", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    await once(server.close(), "close");
    const addresses = ["127.0.0.1", "127.0.0.2"].map((address) => ({ address, family: 4 }));
    const socket = connect({ port, host: "two.test", lookup: (_, __, found) => found(null, addresses) });
    const [error] = await once(socket, "error");
    assert.ok(error instanceof AggregateError);
    const refused = (address: string) => `ECONNREFUSED: connect ECONNREFUSED ${address}:${port}`;
    assert.equal(describeError(error), `${refused("127.0.0.1")}; ${refused("127.0.0.2")}`);
    assert.equal(describeError(new Error("outer", { cause: error })), `outer: ${describeError(error)}`);
  });

  test("is the code alone when there is no message", () => {
    const error = Object.assign(new Error(""), { code: "ECONNREFUSED" });
    assert.equal(describeError(error), "ECONNREFUSED");
    assert.equal(describeError(Object.assign(new AggregateError([]), { code: "ECONNREFUSED" })), "ECONNREFUSED");
  });

  test("keeps the message of an AggregateError", () => {
    assert.equal(describeError(new AggregateError([new Error("one")], "none did")), "none did");
  });

  test("ends for an AggregateError that contains itself", () => {
    const error = new AggregateError([]);
    error.errors.push(error, error, new Error("one"));
    assert.match(describeError(error), /one/);
  });
});

test("a temporary failure gives exit code 1, for a restart by a supervisor, and any other gives 2", () => {
  for (const code of ["ENOSPC", "EDQUOT", "SQLITE_FULL", "SQLITE_IOERR_SHMSIZE", "SQLITE_BUSY", "SQLITE_NOMEM"])
    assert.equal(exitCodeOf(Object.assign(new Error(code), { code })), 1, code);
  for (const code of ["EACCES", "SQLITE_CANTOPEN", "SQLITE_CORRUPT"])
    assert.equal(exitCodeOf(Object.assign(new Error(code), { code })), 2, code);
});
