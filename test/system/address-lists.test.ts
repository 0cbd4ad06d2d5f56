import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { readdirSync, writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { suite, type TestContext, test } from "node:test";
import { ask, assertProblem } from "../helpers/client.ts";
import { authserve } from "../helpers/command.ts";
import { type Server, settings, startServer } from "../helpers/server.ts";
import { until } from "../helpers/until.ts";
import { workingDir } from "../helpers/working-dir.ts";

const SECRET = "a secret of the tests";
const FROM_LIST = "192.0.2.7";
const OTHER = "198.51.100.7";

/** A server with a list of addresses. Without content it does not answer. */
async function startProvider(context: TestContext, content?: string) {
  let answer: (response: ServerResponse) => void = (response) => response.end(content);
  const agents: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    agents.push(request.headers["user-agent"]);
    answer(response);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const stop = () => {
    server.closeAllConnections();
    server.close();
  };
  context.after(stop);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/meta`,
    agents,
    stop,
    answer(next: (response: ServerResponse) => void) {
      answer = next;
    },
  };
}

const configOf = (list: string, more = "") => `
sources:
  hooks:
    verify: { header: x-sig }
    secrets: [env:SECRET]
    allowedAddresses: [203.0.113.0/24, "${list}"]
${more}`;

async function start(list: string, more = "", dir = workingDir()): Promise<Server> {
  writeFileSync(join(dir, "authserve.yaml"), configOf(list, more));
  return startServer({ dir, env: { SECRET, TRUSTED_PROXIES: "127.0.0.1" } });
}

let number = 0;

function deliverFrom(server: Server, address: string) {
  const body = JSON.stringify({ n: number++ });
  const signature = createHmac("sha256", SECRET).update(body).digest("hex");
  const headers = { "Content-Type": "application/json", "X-Sig": signature, "X-Forwarded-For": address };
  return ask(server, "/webhook/hooks", { method: "POST", body, headers });
}

const statusFrom = async (server: Server, address: string) => (await deliverFrom(server, address)).status;

suite("a list of addresses at a URL", () => {
  test("is read before the first delivery, and a changed one is used", async (t) => {
    const provider = await startProvider(t, '{"hooks":["192.0.2.0/24"],"web":["198.51.100.0/24"]}');
    await using server = await start(`${provider.url}#hooks`, "    addressRefresh: 1s\n");
    assert.equal(await statusFrom(server, FROM_LIST), 200);
    assert.equal(await statusFrom(server, "203.0.113.1"), 200);
    assertProblem(await deliverFrom(server, OTHER), 403, "address_not_allowed");
    assert.deepEqual([...new Set(provider.agents)], ["authserve"]);
    provider.answer((response) => void response.end('{"hooks":["198.51.100.0/24"]}'));
    await until(async () => (await statusFrom(server, OTHER)) === 200);
    assert.equal(await statusFrom(server, FROM_LIST), 403);
    const { list, count } = await server.logged("address_list_changed");
    assert.deepEqual([list, count], [`${provider.url}#hooks`, 1]);
  });

  test("that cannot be used leaves the last good one in use, also after a start", async (t) => {
    const provider = await startProvider(t, "192.0.2.0/24\n");
    const first = await start(provider.url, "    addressRefresh: 1s\n");
    try {
      for (const [answer, expected] of [
        [(response) => void response.end("<html>"), /^has neither an address nor a range in line 1$/],
        [(response) => void response.writeHead(302, { Location: "/other" }).end(), /^the answer was 302, not 200$/],
        [(response) => void response.end(`192.0.2.0/24${" ".repeat(8 * 1024 * 1024)}`), /^exceeds 8 MiB$/],
        // The connection ends before the content does.
        [
          (response) => {
            response.writeHead(200, { "Content-Length": "100" });
            response.write("198.51.100.0/24", () => response.destroy());
          },
          /ECONNRESET|aborted|terminated|other side closed/,
        ],
      ] as [(response: ServerResponse) => void, RegExp][]) {
        provider.answer(answer);
        await until(() => first.log("address_list_error").some(({ error }) => expected.test(String(error))));
        assert.equal(await statusFrom(first, FROM_LIST), 200);
        assert.equal(await statusFrom(first, OTHER), 403);
      }
    } finally {
      await first.stop();
    }
    provider.stop();
    await using second = await start(provider.url, "", first.dir);
    assert.equal(await statusFrom(second, FROM_LIST), 200);
    assert.equal(await statusFrom(second, OTHER), 403);
    assert.match(String((await second.logged("address_list_error")).error), /ECONNREFUSED/);
  });

  test("that was never there makes other senders wait, until it is there", async (t) => {
    const provider = await startProvider(t);
    provider.answer((response) => void response.writeHead(500).end());
    await using server = await start(provider.url, "    addressRefresh: 1s\n");
    assert.equal(await statusFrom(server, "203.0.113.1"), 200);
    const answer = await deliverFrom(server, FROM_LIST);
    assertProblem(answer, 503, "intake_paused");
    assert.equal(answer.headers.get("retry-after"), "60");
    const line = await until(() => server.log("request_completed").find(({ status }) => status === 503));
    assert.equal(line.reason, "addresses_unknown");
    provider.answer((response) => void response.end(`${FROM_LIST}\n`));
    await until(async () => (await statusFrom(server, FROM_LIST)) === 200);
    assert.equal(await statusFrom(server, OTHER), 403);
  });

  test("that was never there refuses nobody if addresses are only watched", async (t) => {
    const provider = await startProvider(t);
    provider.answer((response) => void response.writeHead(500).end());
    await using server = await start(provider.url, "    addressRefresh: 1s\n    addressMode: watch\n");
    assert.equal(await statusFrom(server, OTHER), 200);
    assert.deepEqual(server.log("delivery_from_other_address"), []);
    provider.answer((response) => void response.end(`${FROM_LIST}\n`));
    await server.logged("address_list_changed");
    assert.equal(await statusFrom(server, OTHER), 200);
    assert.equal((await server.logged("delivery_from_other_address")).address, OTHER);
  });

  test("is fetched for a file that was reloaded", async (t) => {
    const [first, second] = [await startProvider(t, FROM_LIST), await startProvider(t, OTHER)];
    await using server = await start(first.url);
    assert.equal(await statusFrom(server, OTHER), 403);
    writeFileSync(join(server.dir, "authserve.yaml"), configOf(second.url));
    await until(async () => (await statusFrom(server, OTHER)) === 200);
    assert.equal(await statusFrom(server, FROM_LIST), 403);
  });

  test("is not fetched by commands, and doctor tells of one that is old or missing", async (t) => {
    const provider = await startProvider(t, FROM_LIST);
    const dir = workingDir();
    writeFileSync(join(dir, "authserve.yaml"), configOf(provider.url));
    const env = { ...settings(dir), SECRET };
    const found = async () => {
      const { stdout } = await authserve(["doctor", "--json"], { dir, env });
      const findings = JSON.parse(stdout) as { check: string; found: string }[];
      return findings.filter(({ check }) => check === "addresses").map((finding) => finding.found);
    };
    for (const args of [
      ["config", "check"],
      ["sources", "list"],
    ]) {
      const { code, stderr } = await authserve(args, { dir, env });
      assert.equal(code, 0, stderr);
    }
    assert.deepEqual(await found(), [`${provider.url} has never been read`]);
    assert.deepEqual(provider.agents, []);
    const server = await start(provider.url, "", dir);
    assert.deepEqual(await found(), []);
    const backup = await server.run(["backup", "copy.db"]);
    assert.equal(backup.code, 0, backup.stderr);
    await server.stop();
    const folder = join(dir, "data", "address-lists");
    const [name = ""] = readdirSync(folder);
    const old = { list: "", readAt: new Date(Date.now() - 8.5 * 86_400_000).toISOString(), addresses: [FROM_LIST] };
    writeFileSync(join(folder, name), JSON.stringify(old));
    assert.deepEqual(await found(), [`${provider.url} was last read 8 days ago`]);
  });
});

suite("a list of addresses in a file", () => {
  test("is used within seconds of a change, and a broken one changes nothing, also after a start", async () => {
    const dir = workingDir();
    const file = join(dir, "list.txt");
    writeFileSync(file, `${FROM_LIST}\n`);
    const first = await start("file:list.txt", "", dir);
    try {
      assert.equal(await statusFrom(first, FROM_LIST), 200);
      writeFileSync(file, `${OTHER}\n`);
      await until(async () => (await statusFrom(first, OTHER)) === 200);
      assert.equal(await statusFrom(first, FROM_LIST), 403);
      writeFileSync(file, "");
      assert.equal((await first.logged("address_list_error")).error, "has no address or range");
      assert.equal(await statusFrom(first, OTHER), 200);
    } finally {
      await first.stop();
    }
    await using second = await start("file:list.txt", "", dir);
    assert.equal(await statusFrom(second, OTHER), 200);
    assert.equal(await statusFrom(second, FROM_LIST), 403);
    const warnings = second.log("setting_warning").map(({ message }) => message);
    assert.match(
      warnings.join("\n"),
      /allowedAddresses\.1: file:list\.txt has no address or range: the last good list/,
    );
  });

  test("that was never right stops the start, with its line", async () => {
    const dir = workingDir();
    writeFileSync(join(dir, "authserve.yaml"), configOf("file:none.txt"));
    for (const command of ["serve", "config"]) {
      const args = command === "config" ? ["config", "check"] : ["serve"];
      const { code, stderr } = await authserve(args, { dir, env: { ...settings(dir), SECRET } });
      assert.equal(code, 2);
      assert.match(
        stderr,
        /authserve\.yaml:6:40 sources\.hooks\.allowedAddresses\.1: found file:none\.txt, which cannot be/,
      );
    }
  });
});
