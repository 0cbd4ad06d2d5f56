import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { connect, createServer as createHttp2Server, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { suite, test } from "node:test";
import { needsAll, needsNginx } from "../helpers/back-end.ts";
import { runProgram, startProgram } from "../helpers/command.ts";
import { EMAIL, PASSWORD } from "../helpers/credentials.ts";
import { nginxConfiguration } from "../helpers/deployed-files.ts";
import { webSocketAccept } from "../helpers/echo-app.ts";
import { freePort } from "../helpers/ports.ts";
import { APP, COOKIE, loggedIn, PROXIES, startBefore } from "../helpers/protected-app.ts";
import type { Edit, ProxyName } from "../helpers/proxy.ts";
import type { Cleanup } from "../helpers/temp-dir.ts";
import { isWell, until } from "../helpers/until.ts";
import { PAGE, type Visitor } from "../helpers/visitor.ts";
import { workingDir } from "../helpers/working-dir.ts";

const page = readFileSync(join(import.meta.dirname, "../../docs/apps.md"), "utf8");

/** The lines for a proxy that the page shows below a heading. */
function snippet(heading: string, language: string): string {
  const section = page.split(/^## /m).find((text) => text.startsWith(`${heading}\n`));
  const block = new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\`$`, "m").exec(section ?? "")?.[1];
  assert.ok(block, `${heading} has no block ${language}`);
  return block;
}

const indented = (text: string, by: string) => text.replace(/^(?=.)/gm, by);

const DESTINATION: Record<ProxyName, () => Edit> = {
  nginx: () => {
    const [map, line] = snippet("A WebDAV server", "nginx").split(/\n(?=proxy_set_header)/) as [string, string];
    return (text) =>
      `${text.replace("    proxy_set_header Remote-Name", () => `    ${line}    proxy_set_header Remote-Name`)}${map}\n`;
  },
  caddy: () => (text) =>
    text.replace(
      "\t\t\theader_up Remote-User",
      () => `${indented(snippet("A WebDAV server", "caddy"), "\t\t\t")}\t\t\theader_up Remote-User`,
    ),
  haproxy: () => (text) =>
    text.replace("    server app ", () => `${indented(snippet("A WebDAV server", "haproxy"), "    ")}    server app `),
};

const GRPC: Record<ProxyName, () => Edit> = {
  nginx: () => (text) => {
    const dir = workingDir();
    writeFileSync(join(dir, "nginx-app.conf"), text);
    execFileSync("sh", ["-c", snippet("A gRPC server", "sh")], { cwd: dir });
    return readFileSync(join(dir, "nginx-grpc.conf"), "utf8");
  },
  caddy: () => (text) => text.replace("reverse_proxy 127.0.0.1:8080", snippet("A gRPC server", "caddy").trim()),
  haproxy: () => (text) => text.replace("server app 127.0.0.1:8080", snippet("A gRPC server", "haproxy").trim()),
};

/** A server that sends back each message of a gRPC stream, and at its end who sent them. */
async function startGrpc(context: Cleanup): Promise<{ port: number; received: number }> {
  const parts = { port: 0, received: 0 };
  const server = createHttp2Server();
  server.on(
    "stream",
    (stream: ServerHttp2Stream, { "remote-user": user, "remote-token": token, authorization = "none" }) => {
      parts.received++;
      stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
      stream.on("wantTrailers", () =>
        stream.sendTrailers({ "grpc-status": "0", "grpc-message": `${user} ${token} ${authorization}` }),
      );
      stream.on("error", () => {}).pipe(stream);
    },
  );
  await once(server.listen(0, "127.0.0.1"), "listening");
  context.after(() => void server.close());
  parts.port = (server.address() as AddressInfo).port;
  return parts;
}

async function startDav(context: Cleanup): Promise<{ port: number; dir: string }> {
  const dir = workingDir(0o777);
  const port = await freePort();
  const files = join(dir, "files");
  mkdirSync(files, { mode: 0o777 });
  const methods = "dav_methods PUT DELETE MKCOL COPY MOVE; create_full_put_path on; client_max_body_size 0;";
  const servers = `server { listen 127.0.0.1:${port}; root ${files}; location / { ${methods} } }`;
  writeFileSync(join(dir, "nginx.conf"), nginxConfiguration(dir, servers));
  const args = ["-p", dir, "-e", "stderr", "-c", join(dir, "nginx.conf")];
  const { child, exited } = startProgram("nginx", args, { dir });
  context.after(async () => {
    child.kill("SIGKILL");
    await exited;
  });
  await until(() => isWell(() => fetch(`http://127.0.0.1:${port}/`)));
  return { port, dir: files };
}

/** Git's own server program, `git http-backend`, behind a few lines of CGI. */
async function startGit(context: Cleanup): Promise<{ port: number }> {
  const dir = workingDir();
  await runProgram("git", ["init", "-q", "--bare", "-b", "main", "repo.git"], { dir });
  await runProgram("git", ["-C", "repo.git", "config", "http.receivepack", "true"], { dir });
  const server = createServer((request, response) => {
    const { pathname, search } = new URL(request.url ?? "/", "http://app");
    const child = spawn("git", ["http-backend"], {
      env: {
        ...process.env,
        GIT_PROJECT_ROOT: dir,
        GIT_HTTP_EXPORT_ALL: "1",
        PATH_INFO: pathname,
        QUERY_STRING: search.slice(1),
        REQUEST_METHOD: request.method,
        CONTENT_TYPE: request.headers["content-type"] ?? "",
        HTTP_CONTENT_ENCODING: request.headers["content-encoding"] ?? "",
        REMOTE_USER: String(request.headers["remote-user"]),
      },
    });
    request.pipe(child.stdin.on("error", () => {}));
    const parts: Buffer[] = [];
    child.stdout.on("data", (part: Buffer) => parts.push(part));
    child.on("close", () => {
      const whole = Buffer.concat(parts);
      const end = whole.indexOf("\r\n\r\n");
      const headers = whole
        .subarray(0, end)
        .toString()
        .split("\r\n")
        .map((line) => line.split(/: (.*)/));
      const status = headers.find(([header]) => header === "Status")?.[1];
      response.writeHead(
        Number.parseInt(status ?? "200", 10),
        headers.flatMap(([key = "", value = ""]) => [key, value]),
      );
      response.end(whole.subarray(end + 4));
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  context.after(() => void server.close());
  return { port: (server.address() as AddressInfo).port };
}

type EndWithSession = (socket: Duplex, cookie: string, intervalMs: number) => void;

/** The function that the page shows, asking this authserve. */
async function endWithSession(authservePort: number): Promise<EndWithSession> {
  const code = snippet("An app with websockets", "js").replace("127.0.0.1:3000", `127.0.0.1:${authservePort}`);
  const { endWithSession } = await import(
    `data:text/javascript,${encodeURIComponent(`${code}\nexport { endWithSession };`)}`
  );
  return endWithSession;
}

/** An app whose websockets send back every byte. */
async function startWebsockets(context: Cleanup, onOpen: (socket: Duplex, cookie: string) => void) {
  const sockets = new Set<Socket>();
  const server = createServer((_request, response) => void response.end("{}"));
  server.on("connection", (socket) => sockets.add(socket.on("error", () => {})));
  server.on("upgrade", ({ headers }, socket) => {
    const accept = webSocketAccept(String(headers["sec-websocket-key"]));
    const lines = ["Upgrade: websocket", "Connection: Upgrade", `Sec-WebSocket-Accept: ${accept}`];
    socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join("\r\n")}\r\n\r\n`);
    socket.pipe(socket);
    onOpen(socket, String(headers.cookie));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  context.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return { port: (server.address() as AddressInfo).port };
}

async function opened(context: Cleanup, visitor: Visitor): Promise<Duplex> {
  const { status, socket } = await visitor.upgrade(`${APP}/live`);
  assert.equal(status, 101);
  assert.ok(socket);
  context.after(() => void socket.destroy());
  return socket.on("error", () => {});
}

suite("apps behind a proxy", { concurrency: PROXIES.length }, () => {
  for (const [name, needsProxy] of PROXIES) {
    suite(name, { concurrency: 1 }, () => {
      test("WebDAV by nginx: folders, uploads, moves under the public address, only with a session", {
        ...needsAll(needsProxy(), needsNginx()),
      }, async (t) => {
        const dav = await startDav(t);
        await using site = await startBefore(dav.port, name, {}, DESTINATION[name]());
        const visitor = await loggedIn(site, 403);
        const send = async (method: string, path: string, headers = {}, body = "") =>
          (await visitor.request(`${APP}${path}`, { method, headers: { ...PAGE, ...headers }, body })).status;
        assert.equal(await send("MKCOL", "/a/"), 201);
        assert.equal(await send("PUT", "/a/one.txt", {}, "x".repeat(2_000_000)), 201);
        assert.equal(await send("MOVE", "/a/one.txt", { destination: `${APP}/a/two.txt` }), 204);
        assert.equal(readFileSync(join(dav.dir, "a/two.txt")).length, 2_000_000);
        visitor.cookies.delete(COOKIE);
        assert.equal(await send("DELETE", "/a/two.txt", { accept: "*/*" }), 401);
        assert.equal(readFileSync(join(dav.dir, "a/two.txt")).length, 2_000_000);
      });

      test("git pushes and clones with a token of the API, and not without", needsProxy(), async (t) => {
        const git = await startGit(t);
        await using site = await startBefore(git.port, name);
        const asked = { method: "POST", headers: { "content-type": "application/json" } };
        const login = await fetch(`${site.server.url}/auth/login`, {
          ...asked,
          body: JSON.stringify({ email: EMAIL, password: PASSWORD }),
        });
        const { accessToken } = (await login.json()) as { accessToken: string };
        const dir = workingDir();
        const { port } = site.proxy;
        const config = ["http.sslVerify=false", `http.curloptResolve=app.example.com:${port}:127.0.0.1`, "user.name=a"];
        const more = ["user.email=a@example.com", "http.postBuffer=65536"];
        const run = (args: string[], token = accessToken) =>
          runProgram(
            "git",
            [
              ...[...config, ...more, `http.extraHeader=Authorization: Bearer ${token}`].flatMap((each) => [
                "-c",
                each,
              ]),
              ...args,
            ],
            { dir, env: { HOME: dir, GIT_TERMINAL_PROMPT: "0" } },
          );
        const url = `https://app.example.com:${port}/repo.git`;
        await run(["init", "-q", "-b", "main", "work"]);
        writeFileSync(join(dir, "work/large"), Buffer.from(Array.from({ length: 300_000 }, () => Math.random() * 256)));
        await run(["-C", "work", "add", "."]);
        await run(["-C", "work", "commit", "-q", "-m", "one"]);
        const pushed = await run(["-C", "work", "push", "-q", url, "main"]);
        assert.equal(pushed.code, 0, pushed.stderr);
        const cloned = await run(["clone", "-q", url, "copy"]);
        assert.equal(cloned.code, 0, cloned.stderr);
        assert.deepEqual(readFileSync(join(dir, "copy/large")), readFileSync(join(dir, "work/large")));
        assert.notEqual((await run(["clone", "-q", url, "other"], "x")).code, 0);
      });

      test("git, curl and WebDAV pass with a token as the password, while the session of a browser lives on", {
        ...needsAll(needsProxy(), needsNginx()),
      }, async (t) => {
        const dav = await startDav(t);
        const git = await startGit(t);
        await using davSite = await startBefore(dav.port, name, {}, DESTINATION[name]());
        await using gitSite = await startBefore(git.port, name);
        const visitor = await loggedIn(davSite, 403);
        const dir = workingDir();
        /** A password file for a site. So no token is in `ps`, or in the history of a shell. */
        async function netrcOf({ server }: typeof gitSite, file: string): Promise<string> {
          const { stdout } = await server.run(["tokens", "create", "sync", "--scope", "verify:app.example.com"]);
          writeFileSync(file, `machine app.example.com login anything password ${stdout.trim()}\n`, { mode: 0o600 });
          return file;
        }
        const netrc = await netrcOf(davSite, join(dir, "dav"));
        const { port } = davSite.proxy;
        const url = `https://app.example.com:${port}`;
        const curl = async (...args: string[]) => {
          const resolve = ["--resolve", `app.example.com:${port}:127.0.0.1`];
          const options = ["-sk", "-o", "/dev/null", "-w", "%{http_code}", ...resolve, ...args];
          return (await runProgram("curl", options, { dir })).stdout;
        };
        writeFileSync(join(dir, "one.txt"), "x".repeat(2_000_000));
        const withToken = ["--netrc-file", netrc];
        assert.equal(await curl("-X", "MKCOL", `${url}/a/`), "401");
        assert.equal(await curl(...withToken, "--anyauth", "-X", "MKCOL", `${url}/a/`), "201", "when asked for it");
        assert.equal(await curl(...withToken, "-T", "one.txt", `${url}/a/one.txt`), "201");
        const move = ["-X", "MOVE", "-H", `Destination: ${url}/a/two.txt`, `${url}/a/one.txt`];
        assert.equal(await curl(...withToken, ...move), "204");
        assert.equal(readFileSync(join(dav.dir, "a/two.txt")).length, 2_000_000);
        assert.equal(await curl("-u", "me:ask_wrong", `${url}/a/two.txt`), "401");
        assert.equal((await visitor.request(`${APP}/`)).status, 403, "the app's own answer to the browser");

        await netrcOf(gitSite, join(dir, ".netrc"));
        const config = [
          "http.sslVerify=false",
          `http.curloptResolve=app.example.com:${gitSite.proxy.port}:127.0.0.1`,
          ...["user.name=a", "user.email=a@example.com"],
        ].flatMap((each) => ["-c", each]);
        const run = (home: string, ...args: string[]) =>
          runProgram("git", [...config, ...args], { dir, env: { HOME: home, GIT_TERMINAL_PROMPT: "0" } });
        const repository = `https://app.example.com:${gitSite.proxy.port}/repo.git`;
        await run(dir, "init", "-q", "-b", "main", "work");
        await run(dir, "-C", "work", "commit", "-q", "--allow-empty", "-m", "one");
        const pushed = await run(dir, "-C", "work", "push", "-q", repository, "main");
        assert.equal(pushed.code, 0, pushed.stderr);
        assert.equal((await run(dir, "clone", "-q", repository, "copy")).code, 0);
        assert.notEqual((await run("/nonexistent", "clone", "-q", repository, "other")).code, 0);
      });

      // https://github.com/kubernetes/ingress-nginx/issues/3914: a client could name the user
      test("gRPC passes with a token, in both directions, and names no user of the client", needsProxy(), async (t) => {
        const app = await startGrpc(t);
        await using site = await startBefore(app.port, name, {}, GRPC[name]());
        const { stdout } = await site.server.run(["tokens", "create", "grpc", "--scope", "verify"]);
        const ca = { rejectUnauthorized: false, servername: "app.example.com" };
        const session = connect(APP, { port: site.proxy.port, host: "127.0.0.1", ...ca });
        t.after(() => session.destroy());
        const call = (headers: Record<string, string>) => {
          const own = { "content-type": "application/grpc", te: "trailers", "remote-user": "mallory" };
          const path = { ":method": "POST", ":path": "/test.Echo/Both", ":authority": "app.example.com" };
          return session.request({ ...path, ...own, ...headers });
        };
        const stream = call({ authorization: `Bearer ${stdout.trim()}` });
        for (const message of ["one", "two"]) {
          stream.write(message);
          assert.equal(String((await once(stream, "data"))[0]), message);
        }
        stream.end();
        const [trailers] = await once(stream, "trailers");
        assert.deepEqual([trailers["grpc-status"], trailers["grpc-message"]], ["0", "1 grpc none"]);
        const [refused] = await once(call({}).end("one"), "response");
        assert.deepEqual([refused[":status"], app.received], [401, 1]);
      });

      test("an open websocket outlives the session, unless the app asks", needsProxy(), async (t) => {
        let ask: EndWithSession | undefined;
        const app = await startWebsockets(t, (socket, cookie) => ask?.(socket, cookie, 50));
        await using site = await startBefore(app.port, name);
        const visitor = await loggedIn(site);
        const left = await opened(t, visitor);
        ask = await endWithSession(site.server.port);
        const ended = await opened(t, visitor);
        let isEnded = false;
        ended.resume().on("close", () => {
          isEnded = true;
        });
        assert.equal((await site.server.run(["session", "revoke"])).code, 0);
        await until(() => isEnded);
        left.write("still");
        assert.equal(String((await once(left, "data"))[0]), "still");
        assert.equal((await visitor.upgrade(`${APP}/live`)).status, 401);
      });
    });
  }
});
