import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import type { RedisAddress, RedisServers } from "../../src/redis/client.ts";
import type { Cleanup } from "./temp-dir.ts";

/** Listens on a free port. The test answers each command, named in upper case, with RESP without its last line end. */
async function startFake(context: Cleanup, answer: (command: string[]) => string): Promise<RedisAddress> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    let rest = "";
    socket.setEncoding("latin1").on("data", (text: string) => {
      const { commands, left } = parse(rest + text);
      rest = left;
      for (const [name = "", ...args] of commands) socket.write(`${answer([name.toUpperCase(), ...args])}\r\n`);
    });
  });
  context.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { host: "127.0.0.1", port: (server.address() as AddressInfo).port };
}

/** A healthy cluster of one node. The test answers its scripts. */
export async function startFakeCluster(
  context: Cleanup,
  answerScript: (nth: number) => string,
): Promise<{ servers: RedisServers; scripts(): number }> {
  let scripts = 0;
  const node = await startFake(context, ([name, more]) => {
    if (name === "EVAL") return answerScript(++scripts);
    if (name === "GET") return "$-1";
    if (name === "INFO") return "$0\r\n";
    if (name !== "CLUSTER") return "+OK";
    if (more?.toUpperCase() === "INFO") return bulk("cluster_state:ok");
    return `*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n${bulk(node.host)}\r\n:${node.port}`;
  });
  return { servers: { kind: "cluster", nodes: [node] }, scripts: () => scripts };
}

/** A sentinel whose master is chosen by the test. */
export function startFakeSentinel(context: Cleanup, master: () => RedisAddress): Promise<RedisAddress> {
  return startFake(context, ([name, question]) => {
    if (name !== "SENTINEL") return "+OK";
    if (question?.toLowerCase() === "sentinels") return "*0";
    const { host, port } = master();
    return `*2\r\n${bulk(host)}\r\n${bulk(String(port))}`;
  });
}

const bulk = (text: string) => `$${text.length}\r\n${text}`;

/** Parses the complete commands at the start of a text. Each is an array of strings in RESP. */
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
