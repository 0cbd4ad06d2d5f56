import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { NewEvent } from "../../src/events/store.ts";
import { createRouter } from "../../src/http/router.ts";
import { type DeliveryParts, sourceEndpoints } from "../../src/webhook/endpoints.ts";
import type { HeldDelivery } from "../../src/webhook/held/held-store.ts";
import type { Source } from "../../src/webhook/source.ts";
import { sourceIn } from "./config-file.ts";
import { recordingLog } from "./log.ts";
import { secretOf } from "./secret.ts";
import type { Cleanup } from "./temp-dir.ts";

export const SECRET = "a secret of the tests";

/** Serves a source in this process until the end of the test. Its deliveries have `SECRET` in `Authorization`. */
export async function servedSource(
  context: Cleanup,
  changes: Partial<Source>,
  partChanges: Partial<DeliveryParts> = {},
) {
  const source: Source = {
    name: "sender",
    path: "/hook",
    preset: null,
    secrets: [secretOf(SECRET, "env:SECRET")],
    schemes: [{ type: "token", header: "authorization" }],
    id: [],
    type: [],
    dedupe: "bytes",
    contentTypes: ["application/json"],
    isEnvelope: false,
    addressMode: "enforce",
    bodyLimitBytes: 10_000,
    ...changes,
  };
  const { log, lines, named } = recordingLog();
  const stored: NewEvent[] = [];
  const held: HeldDelivery[] = [];
  const keptSecrets: string[] = [];
  const parts = {
    log,
    intake: {
      append: async (event: NewEvent) => {
        stored.push(event);
        return { duplicate: false };
      },
      write: (_bytes: number, run: () => Promise<unknown>) => run(),
    },
    addressLists: { find: () => undefined },
    acceptsSecret: async () => true,
    hold: async (_source: unknown, delivery: HeldDelivery) => void held.push(delivery),
    keepSecret: async (_source: unknown, { value }: { value: string }) => {
      keptSecrets.push(value);
      return "kept" as const;
    },
    onReceived() {},
    onRefused() {},
    ...partChanges,
  } as unknown as DeliveryParts;
  const { trustedProxies } = parts;
  const routing = { log, trustedProxies, watchForUnnamedProxy() {}, stopping: new AbortController().signal };
  const { listener } = createRouter(sourceEndpoints(source, parts), routing);
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  context.after(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${source.path}`;
  const send = async (init: RequestInit = {}, after = "") => {
    const response = await fetch(url + after, init);
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  return { source, url, stored, held, keptSecrets, lines, named, send };
}

/** The same for a source as the configuration file has it. */
export const serveSource = (context: Cleanup, entry: string, partChanges?: Partial<DeliveryParts>) =>
  servedSource(context, sourceIn(entry), partChanges);
