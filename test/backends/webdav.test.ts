import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { join } from "node:path";
import { suite, test } from "node:test";
import { newToken } from "../../src/auth/machine-tokens/form.ts";
import { hasProgram, needs, needsAll } from "../helpers/back-end.ts";
import { runProgram, startProgram } from "../helpers/command.ts";
import { freePort } from "../helpers/ports.ts";
import { APP, loggedIn, PROXIES, startBefore } from "../helpers/protected-app.ts";
import type { Cleanup } from "../helpers/temp-dir.ts";
import { isWell, until } from "../helpers/until.ts";
import { workingDir } from "../helpers/working-dir.ts";

/** A WebDAV server, that of rclone. */
async function startDav(context: Cleanup): Promise<{ port: number; files: string }> {
  const files = join(workingDir(), "files");
  mkdirSync(files);
  const port = await freePort();
  const args = ["serve", "webdav", files, "--addr", `127.0.0.1:${port}`, "--dir-cache-time", "0"];
  const { child, exited } = startProgram("rclone", args, { dir: files, env: { RCLONE_CONFIG: "/notfound" } });
  context.after(async () => {
    child.kill("SIGKILL");
    await exited;
  });
  await until(() => isWell(() => fetch(`http://127.0.0.1:${port}/`)));
  return { port, files };
}

/** A proxy of the programs' own, which leads every host to a port, as DNS would. */
async function startTunnel(context: Cleanup, port: number): Promise<number> {
  const server = createServer().on("connect", (_request, client) => {
    const target = connect(port, "127.0.0.1", () => {
      client.write("HTTP/1.1 200 OK\r\n\r\n");
      client.pipe(target).pipe(client);
    });
    for (const end of [target, client]) end.on("error", () => void client.destroy());
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  context.after(() => void server.close());
  return (server.address() as AddressInfo).port;
}

const needsRclone = () =>
  needs("rclone", () => hasProgram("rclone", "version"), "rclone is not on the path (Debian: apt-get install rclone)");
const needsCadaver = () =>
  needs("cadaver", () => hasProgram("cadaver", "-V"), "cadaver is not on the path (Debian: apt-get install cadaver)");

suite("a WebDAV client with a token as its password", () => {
  for (const [name, needsProxy] of PROXIES)
    test(`works behind ${name}, and the session of a browser lives on`, {
      ...needsAll(needsProxy(), needsRclone(), needsCadaver()),
    }, async (t) => {
      const dav = await startDav(t);
      await using site = await startBefore(dav.port, name);
      const visitor = await loggedIn(site);
      const tunnel = `127.0.0.1:${await startTunnel(t, site.proxy.port)}`;
      const { stdout } = await site.server.run(["tokens", "create", "dav", "--scope", "verify:app.example.com"]);
      const token = stdout.trim();
      const dir = workingDir();
      mkdirSync(join(dir, "work"));
      writeFileSync(join(dir, "work/one.txt"), "one");
      writeFileSync(join(dir, "work/two words ñ.txt"), "x".repeat(3_000_000));
      const stored = () => readdirSync(dav.files, { recursive: true }).sort();

      /** It sends the password at once. */
      async function rclone(password: string, ...args: string[]): Promise<number | null> {
        const { stdout: obscured } = await runProgram("rclone", ["obscure", password], { dir });
        const env = {
          RCLONE_CONFIG: "/notfound",
          HTTPS_PROXY: `http://${tunnel}`,
          RCLONE_WEBDAV_URL: APP,
          RCLONE_WEBDAV_USER: "anything",
          RCLONE_WEBDAV_PASS: obscured.trim(),
        };
        const options = ["--no-check-certificate", "--retries", "1", "--low-level-retries", "1"];
        return (await runProgram("rclone", [...options, ...args], { dir, env })).code;
      }
      assert.notEqual(await rclone(newToken(), "copy", "work", ":webdav:a"), 0);
      assert.equal(await rclone(token, "copy", "work", ":webdav:a"), 0);
      assert.equal(await rclone(token, "moveto", ":webdav:a/one.txt", ":webdav:b/three.txt"), 0);
      assert.deepEqual(stored(), ["a", "a/two words ñ.txt", "b", "b/three.txt"]);
      assert.equal(await rclone(token, "check", ":webdav:a", "work", "--one-way"), 0);

      /** It sends the password when it is asked for one, and only on a terminal it takes a certificate of our own. */
      async function cadaver(...commands: string[]): Promise<string> {
        writeFileSync(join(dir, "commands"), ["y", ...commands, "quit", ""].join("\n"));
        const run = `script -qec 'cadaver -p ${tunnel} ${APP}/' /dev/null <commands`;
        return (await runProgram("sh", ["-c", run], { dir, env: { HOME: dir, TERM: "dumb" } })).stdout;
      }
      writeFileSync(join(dir, ".netrc"), `machine app.example.com login anything password ${token}\n`, { mode: 0o600 });
      const output = await cadaver(
        ...["mkcol c", "put work/one.txt c/one.txt", "move c/one.txt c/moved.txt", "copy c/moved.txt c/copy.txt"],
        ...["delete c/moved.txt", "get c/copy.txt got.txt"],
      );
      assert.deepEqual(stored(), ["a", "a/two words ñ.txt", "b", "b/three.txt", "c", "c/copy.txt"], output);
      assert.equal(readFileSync(join(dir, "got.txt"), "utf8"), "one");

      assert.equal((await visitor.request(`${APP}/`)).status, 200, "the browser");
    });
});
