import { once } from "node:events";
import type { RequestListener } from "node:http";
import { type AddressInfo, connect as connectPlain, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { AppError } from "../../src/errors.ts";
import { createHttpServer, type ServerOptions } from "../../src/http/server.ts";
import { createTlsFiles } from "../../src/http/tls.ts";
import type { Cleanup } from "./temp-dir.ts";
import { pairNamed } from "./tls.ts";

/** A client of a bare HTTP or HTTPS server. It does not read by itself. Both end with the test. */
export async function connected(
  context: Cleanup,
  isTls: boolean,
  listener: RequestListener,
  options: Pick<ServerOptions, "idleLimits"> = {},
): Promise<Socket> {
  const { cert, key } = pairNamed("first");
  const tls = isTls ? createTlsFiles(cert, key) : undefined;
  const server = createHttpServer(listener, { tls, refusal: () => new AppError("not_found"), ...options });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const socket = isTls ? connectTls({ port, rejectUnauthorized: false }) : connectPlain(port, "127.0.0.1");
  socket.on("error", () => {});
  context.after(() => {
    socket.destroy();
    server.close();
  });
  await once(socket, isTls ? "secureConnect" : "connect");
  return socket;
}
