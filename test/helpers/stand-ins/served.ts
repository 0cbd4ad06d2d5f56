import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { ApiRequest } from "../../../src/webhook/provider/catch-up.ts";
import type { Cleanup } from "../temp-dir.ts";
import type { StandInAnswer } from "./stand-in.ts";

/** Serves the API of a stand-in on a free port until the end of the test. Returns its origin. */
export async function servedApi(
  context: Cleanup,
  answer: (request: ApiRequest) => Promise<StandInAnswer>,
): Promise<string> {
  let origin = "";
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const hasBody = request.method !== "GET";
    const { status, headers, text } = await answer({
      url: `${origin}${request.url}`,
      method: request.method as "GET",
      headers: request.headers as Record<string, string>,
      ...(hasBody && { body: Buffer.concat(chunks).toString() }),
    });
    response.writeHead(status, headers).end(text);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  context.after(() => {
    server.closeAllConnections();
    server.close();
  });
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return origin;
}
