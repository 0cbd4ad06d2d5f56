import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { NewEvent } from "../../src/events/store.ts";
import { createRouter } from "../../src/http/router.ts";
import { type DeliveryParts, sourceRoutes } from "../../src/webhook/routes.ts";
import { sourceIn } from "./config-file.ts";
import { recordingLog } from "./log.ts";
import type { Cleanup } from "./temp-dir.ts";

/** Serves the routes of a source as the configuration file has it, at its own path. Events are kept in a list. */
export async function serveSource(t: Cleanup, entry: string) {
  const source = sourceIn(entry);
  const { log, lines, named } = recordingLog();
  const stored: NewEvent[] = [];
  const parts = {
    log,
    intake: {
      async append(event: NewEvent) {
        stored.push(event);
        return { duplicate: false };
      },
    },
    addressLists: { find: () => undefined },
    acceptsSecret: async () => true,
    hold: async () => {},
    onReceived() {},
    onRefused() {},
  } as unknown as DeliveryParts;
  const stopping = new AbortController().signal;
  const routing = { log, trustedProxies: undefined, watchForUnnamedProxy() {}, stopping };
  const server = createServer(createRouter(sourceRoutes(source, parts), routing).listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${source.path}`;
  async function send(init: RequestInit = {}, query = "") {
    const response = await fetch(url + query, init);
    return { status: response.status, headers: response.headers, text: await response.text() };
  }
  return { send, stored, lines, named };
}
