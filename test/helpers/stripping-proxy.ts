import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";

/** Starts a proxy on loopback that removes a part of the path, and says which. */
export async function startStrippingProxy(port: number, prefix: string) {
  const server = createServer((incoming, outgoing) => {
    const { method, headers, url = "" } = incoming;
    if (!url.startsWith(`${prefix}/`)) return outgoing.writeHead(404).end();
    const sent = { ...headers, "x-forwarded-for": "127.0.0.1", "x-forwarded-prefix": prefix };
    const passed = request(
      { host: "127.0.0.1", port, method, path: url.slice(prefix.length), headers: sent },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      },
    );
    passed.on("error", () => outgoing.destroy());
    incoming.pipe(passed);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${prefix}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
