import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { suite, test } from "node:test";
import { readForwardUrl } from "../../../src/cli/listen/forward-url.ts";
import { createTarget } from "../../../src/cli/listen/target.ts";
import { NOW } from "../../helpers/events.ts";

const names: Record<string, string[]> = { "app.test": ["127.0.0.1"], "db.test": ["127.0.0.1", "192.0.2.1"] };
const read = (text: string, isRemoteAllowed = false) =>
  readForwardUrl(text, isRemoteAllowed, async (host) => names[host] ?? []);

suite("where a listener sends events", () => {
  test("is a URL, a host and port, or a port", async () => {
    for (const [text, url] of [
      ["http://localhost:3000/hook", "http://localhost:3000/hook"],
      ["localhost:3000/hook?a=1", "http://localhost:3000/hook?a=1"],
      ["[::1]:3000", "http://[::1]:3000/"],
      ["3000", "http://localhost:3000/"],
      [":3000", "http://localhost:3000/"],
      ["3000/hook", "http://localhost:3000/hook"],
      ["localhost", "http://localhost/"],
      // https://github.com/stripe/stripe-cli/issues/784
      ["app.localhost/api/webhooks?a=b:1", "http://app.localhost/api/webhooks?a=b:1"],
    ] as const)
      assert.equal((await read(text)).url, url);
    for (const text of ["ftp://localhost/hook", "/hook", "unix:/run/app.sock", "99999", ""])
      await assert.rejects(read(text), /--forward is not usable/, text);
  });

  test("is on this machine if all of its addresses are", async () => {
    for (const url of [
      "http://127.0.0.1",
      "http://[::1]",
      "http://localhost",
      "http://shop.localhost",
      "https://app.test",
    ])
      assert.notEqual((await read(url)).loopback, null, url);
    for (const url of ["http://192.0.2.1", "http://db.test", "http://unknown.test", "http://host.docker.internal:3000"])
      await assert.rejects(read(url), /--forward is not on this machine/, url);
    assert.equal((await read("http://db.test", true)).loopback, null);
  });

  test("reaches a program that listens on ::1 only, also by a name below localhost", async (t) => {
    const program = createServer((_, response) => void response.writeHead(204).end());
    await new Promise<void>((resolve) => void program.listen(0, "::1", resolve));
    t.after(() => program.close());
    const { port } = program.address() as AddressInfo;
    const content = { payload: Buffer.from("{}"), contentType: "application/json", headers: "{}" };
    const event = { id: 1, source: "a", eventId: "e", type: "push", receivedAt: NOW, cursor: "1-1", content };
    for (const host of ["localhost", "shop.localhost"]) {
      const target = createTarget(await read(`${host}:${port}`), { as: "route", key: null, route: null });
      const sent = await target.send(event, false);
      assert.equal(sent.isAway || sent.answer.status, 204);
    }
  });

  test("reaches a program although this process is too busy to see at once that it is connected", async (t) => {
    const program = createServer((_, response) => void response.writeHead(204).end());
    await new Promise<void>((resolve) => void program.listen(0, "127.0.0.1", resolve));
    t.after(() => program.close());
    const { port } = program.address() as AddressInfo;
    const target = createTarget(await read(`localhost:${port}`), { as: "route", key: null, route: null });
    const content = { payload: Buffer.from("{}"), contentType: "application/json", headers: "{}" };
    const event = { id: 1, source: "a", eventId: "e", type: "push", receivedAt: NOW, cursor: "1-1", content };
    const sending = target.send(event, false);
    // Longer than Node tries an address of a name before the next one.
    process.nextTick(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400));
    const sent = await sending;
    assert.equal(sent.isAway || sent.answer.status, 204);
  });
});
