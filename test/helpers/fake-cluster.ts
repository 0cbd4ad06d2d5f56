import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import type { RedisServers } from "../../src/redis/client.ts";
import type { Cleanup } from "./temp-dir.ts";

export interface FakeCluster {
  servers: RedisServers;
  /** How many scripts have arrived. */
  scripts(): number;
}

/** A cluster of one node that answers scripts as a test says, and everything else as if it were well. */
export async function startFakeCluster(context: Cleanup, answerScript: (nth: number) => string): Promise<FakeCluster> {
  let scripts = 0;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    let rest = "";
    socket.setEncoding("latin1").on("data", (text: string) => {
      const { commands, left } = parse(rest + text);
      rest = left;
      for (const command of commands) socket.write(`${answer(command)}\r\n`);
    });
  });
  context.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;

  function answer([name = "", more = ""]: string[]): string {
    const command = name.toUpperCase();
    if (command === "EVAL") return answerScript(++scripts);
    if (command === "GET") return "$-1";
    if (command === "INFO") return "$0\r\n";
    if (command !== "CLUSTER") return "+OK";
    if (more.toUpperCase() === "INFO") return "$16\r\ncluster_state:ok";
    return `*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$9\r\n127.0.0.1\r\n:${port}`;
  }
  return { servers: { kind: "cluster", nodes: [{ host: "127.0.0.1", port }] }, scripts: () => scripts };
}

/** Takes whole commands, each an array of strings in RESP, from the beginning of a text. */
function parse(text: string): { commands: string[][]; left: string } {
  const commands: string[][] = [];
  let left = text;
  for (;;) {
    const lines = left.split("\r\n");
    const words = Number(lines[0]?.slice(1));
    if (lines.length <= 1 + 2 * words) return { commands, left };
    commands.push(Array.from({ length: words }, (_, word) => lines[2 + 2 * word] as string));
    left = lines.slice(1 + 2 * words).join("\r\n");
  }
}
