import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { ask } from "../helpers/client.ts";
import { startProgram } from "../helpers/command.ts";
import { changed } from "../helpers/deployed-files.ts";
import { clockOff } from "../helpers/fake-clock.ts";
import { freePort } from "../helpers/ports.ts";
import { type Server, type ServerOptions, startServer } from "../helpers/server.ts";
import type { Cleanup } from "../helpers/temp-dir.ts";
import { isWell, until } from "../helpers/until.ts";
import { workingDir } from "../helpers/working-dir.ts";

const HAPROXY = join(import.meta.dirname, "../../deploy/cluster/haproxy.cfg");

/** How far the clocks of the servers are from the right time. */
const CLOCKS = ["-90s", "+0s", "+90s"];

/** Three servers on one database, behind the HAProxy of `deploy/`. */
export interface Cluster {
  /** The proxy. */
  url: string;
  /** The present processes. */
  servers(): readonly Server[];
  /** Ends a server by SIGKILL, and starts it again after some time. */
  kill(index: number, restartAfterMs: number): Promise<void>;
}

/** Starts the servers, each with a clock of its own, and the proxy. */
export async function startCluster(context: Cleanup, env: Record<string, string>): Promise<Cluster> {
  const ports = [];
  for (const _ of CLOCKS) ports.push(await freePort());
  const servers = await Promise.all(
    ports.map((port, index) =>
      start({
        env: {
          ...env,
          PORT: `${port}`,
          TRUSTED_PROXIES: "127.0.0.1",
          ...clockOff(CLOCKS[index] as string),
        },
      }),
    ),
  );
  context.after(async () => {
    for (const server of servers) await server[Symbol.asyncDispose]();
  });
  return {
    url: await startProxy(context, ports),
    servers: () => servers,
    async kill(index, restartAfterMs) {
      const { dir, env: settings, kill } = servers[index] as Server;
      await kill();
      await delay(restartAfterMs);
      servers[index] = await start({ dir, env: settings });
    },
  };
}

/** Starts a server. While the database is away, a start fails. */
const start = (options: ServerOptions) => until(() => startServer(options).catch(() => null));

/** Starts HAProxy with the file of `deploy/`, but without TLS. Returns its URL. */
async function startProxy(context: Cleanup, ports: readonly number[]): Promise<string> {
  const dir = workingDir();
  const port = await freePort();
  const file = join(dir, "haproxy.cfg");
  const servers = ports.map((own, index) => `    server authserve${index + 1} 127.0.0.1:${own}\n`).join("");
  const text = changed(readFileSync(HAPROXY, "utf8"), [
    [/^ *(?:user|group) haproxy\n/gm, ""],
    [/^ *bind :::.*\n/gm, ""],
    ["bind :80\n", `bind 127.0.0.1:${port}\n`],
    [/^ *bind :443 .*\n/gm, ""],
    [/^ *http-request redirect .*\n/gm, ""],
    [/(?:^ *server authserve\d .*\n)+/gm, servers],
  ]);
  writeFileSync(file, text);
  const { child, exited, stderr } = startProgram("haproxy", ["-f", file], { dir, env: {} });
  context.after(async () => {
    child.kill("SIGKILL");
    await exited;
  });
  const url = `http://127.0.0.1:${port}`;
  await until(() => isWell(() => ask({ url }, "/healthz"))).catch(() => {
    throw new Error(`haproxy does not answer: ${stderr()}`);
  });
  return url;
}
