import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import type { Cleanup } from "./temp-dir.ts";

/** A network between a client and a server that a test can disturb. */
interface TcpProxy {
  port: number;
  /** From now on nothing passes, and no connection is closed: like a cable that is pulled. */
  cut(): void;
  /** Bytes pass again, also those that waited. */
  mend(): void;
  /** The server's next answers get lost, and their connections are closed. */
  loseAnswers(): void;
  /** How many answers got lost. */
  lost(): number;
}

/** Starts a proxy to a port of this machine. It ends with the test. */
export async function startTcpProxy(context: Cleanup, to: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let isCut = false;
  let losing = false;
  let lost = 0;

  function track(socket: Socket): void {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
    if (isCut) socket.pause();
  }

  const listener = createServer({ pauseOnConnect: true }, (client) => {
    const server = connect(to, "127.0.0.1");
    for (const socket of [client, server]) track(socket);
    client.on("data", (bytes) => server.write(bytes));
    server.on("data", (bytes) => {
      if (losing) {
        lost++;
        client.destroy();
        server.destroy();
      } else client.write(bytes);
    });
    client.on("close", () => server.destroy());
    server.on("close", () => client.destroy());
    if (!isCut) client.resume();
  });
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  context.after(() => {
    for (const socket of sockets) socket.destroy();
    listener.close();
  });
  return {
    port: (listener.address() as AddressInfo).port,
    cut() {
      isCut = true;
      for (const socket of sockets) socket.pause();
    },
    mend() {
      isCut = false;
      losing = false;
      for (const socket of sockets) socket.resume();
    },
    loseAnswers() {
      losing = true;
    },
    lost: () => lost,
  };
}
