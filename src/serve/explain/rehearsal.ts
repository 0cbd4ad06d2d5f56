import type { IncomingMessage, ServerResponse } from "node:http";
import { BlockList } from "node:net";
import { Duplex } from "node:stream";
import type { ErrorCode } from "../../errors.ts";
import type { NewEvent } from "../../events/store.ts";
import { clientAddress, sentOrigin, sentTarget } from "../../http/proxies.ts";
import { createRouter } from "../../http/router.ts";
import { createHttpServer } from "../../http/server.ts";
import { createLog } from "../../log.ts";
import { type DeliveryParts, sourceEndpoints } from "../../webhook/endpoints.ts";
import { pairsOf, type RawRequest, type SentTo } from "../../webhook/held/raw-request.ts";
import type { Source } from "../../webhook/source.ts";
import type { StageParts } from "../../webhook/stages/stages.ts";

/** What the server would do with a request. */
export interface Rehearsal {
  /** The status that it would answer. */
  status: number;
  /** Why it would refuse the request; null if it would not. */
  code: ErrorCode | null;
  reason: string | null;
  /** The event that it would store; null for a handshake and for a request that it would refuse. */
  event: NewEvent | null;
  /** The sender's address as the server would see it; null if it cannot be known. */
  address: string | null;
  sentTo: SentTo;
}

/** How a request came, and what the server knows besides the source. */
export interface RehearsalOptions extends Pick<DeliveryParts, "addressLists" | "acceptsSecret"> {
  /** Unix milliseconds. */
  now: number;
  trustedProxies: BlockList | undefined;
  /** Whether the server itself speaks HTTPS. */
  isEncrypted: boolean;
  /** The sender's address, if it is known otherwise than by the request. */
  address: string | undefined;
  /** The address that the sender used, if it is known otherwise than by the request. */
  sentTo: SentTo | undefined;
}

/** Gives a captured request to the endpoints of a source, as the server does. Nothing is stored, sent or logged. */
export async function rehearse(source: Source, raw: RawRequest, options: RehearsalOptions): Promise<Rehearsal> {
  const arrival = arrivalOf(cutOff(raw, source.bodyLimitBytes), options);
  const { trustedProxies } = arrival;
  const found: Pick<Rehearsal, "code" | "reason" | "event"> = { code: null, reason: null, event: null };
  const { log, ...judges } = partsOf(options.addressLists);
  const parts: DeliveryParts = {
    log,
    ...judges,
    trustedProxies,
    acceptsSecret: options.acceptsSecret,
    intake: {
      async append(event) {
        found.event = event;
        return { duplicate: false, conflict: false };
      },
      waiting: 0,
      unanswered: 0,
      write: (_, run) => run(),
      flush: async () => {},
    },
    hold: async () => {},
    keepSecret: async () => "known",
    openUrl: async () => 200,
    onReceived() {},
    onRefused(_source, code, reason) {
      found.code = code;
      found.reason = reason ?? null;
    },
    now: () => options.now,
  };
  const routing = { log, trustedProxies, watchForUnnamedProxy() {}, stopping: new AbortController().signal };
  const { listener, refusal } = createRouter(sourceEndpoints(source, parts), routing);
  let seen: Pick<Rehearsal, "address" | "sentTo"> = {
    address: null,
    sentTo: options.sentTo ?? { origin: "", target: raw.target },
  };
  const status = await statusOf(arrival, refusal, (request, response) => {
    const address = clientAddress(request, trustedProxies);
    seen = {
      // That of a proxy is not the sender's.
      address: address === UNKNOWN || (trustedProxies && address === arrival.peer) ? null : address,
      sentTo: {
        origin: sentOrigin(request, trustedProxies, source.publicOrigin),
        target: sentTarget(request, trustedProxies),
      },
    };
    listener(request, response);
  });
  if (status >= 400) found.code ??= refusal(raw.method, raw.target).code;
  return { status, ...found, ...seen };
}

/** What the stages of a delivery use besides its source, without a log. Keys are those that the source has. */
export function partsOf(addressLists: StageParts["addressLists"]): Omit<StageParts, "acceptsSecret"> {
  return {
    log: createLog("silent"),
    addressLists,
    keySets: {
      withKeys: (same) => same,
      renew: async () => false,
      isMissing: ({ keys = [] }) => keys.some(({ set, keys: read }) => set !== undefined && read.length === 0),
    },
  };
}

/** Of a body that is too large, any bytes above the limit will do. A capture has no more of it. */
function cutOff(raw: RawRequest, limitBytes: number): RawRequest {
  if (raw.body.length + raw.missingBytes <= limitBytes) return raw;
  return { ...raw, body: Buffer.alloc(limitBytes + 1), missingBytes: 0 };
}

/** The bytes of a request, and how they come. */
interface Arrival {
  bytes: Buffer;
  peer: string;
  isEncrypted: boolean;
  trustedProxies: BlockList | undefined;
}

/** Whether a request of a method usually has no body. */
const isSafe = (method: string) => method === "GET" || method === "HEAD" || method === "OPTIONS";

/** Stands for an address that is not known: no sender has it. */
export const UNKNOWN = "0.0.0.0";

/** Hop-by-hop headers: they are about the connection on which the request was captured. */
const OF_CONNECTION = /^(?:connection|keep-alive|proxy-connection|expect|upgrade|transfer-encoding)$/;

/** Lets a request come as it did: through a proxy if the settings name one, or if the sender used another address. */
function arrivalOf(
  { method, target, headers, rawHeaders, body, missingBytes }: RawRequest,
  { trustedProxies: configured, address, sentTo, isEncrypted }: RehearsalOptions,
): Arrival {
  const isForwarded = configured !== undefined || sentTo !== undefined;
  const peer = isForwarded ? (configured && firstOf(configured)) || UNKNOWN : (address ?? UNKNOWN);
  const trustedProxies = configured ?? (isForwarded ? only(peer) : undefined);
  const replaced: Record<string, string> = {};
  // Without a trusted proxy the server ignores these.
  const isIgnored = (name: string) => isForwarded && configured === undefined && name.startsWith("x-forwarded-");
  if (isForwarded && address !== undefined) replaced["x-forwarded-for"] = address;
  let path = target.replace(/^https?:\/\/[^/?#]*/i, "") || "/";
  if (sentTo) {
    const [scheme = "", host = ""] = sentTo.origin.split("://");
    replaced["x-forwarded-proto"] = scheme;
    replaced["x-forwarded-host"] = host;
    const prefix = sentTo.target.endsWith(path) ? sentTo.target.slice(0, -path.length) : "";
    replaced["x-forwarded-prefix"] = prefix;
    if (prefix === "") path = sentTo.target;
  }
  const isEmpty = body.length === 0 && missingBytes === 0;
  if (!isEmpty || !isSafe(method)) replaced["content-length"] = String(body.length + missingBytes);
  const kept = pairsOf(rawHeaders).filter(([name]) => {
    const key = name.toLowerCase();
    return !OF_CONNECTION.test(key) && replaced[key] === undefined && !isIgnored(key);
  });
  const host: [string, string][] = headers.host === undefined ? [["Host", "localhost"]] : [];
  const lines = [...host, ...kept, ...Object.entries(replaced)].map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `${method} ${path} HTTP/1.1\r\n${lines.join("")}Connection: close\r\n\r\n`;
  return { bytes: Buffer.concat([Buffer.from(head, "latin1"), body]), peer, isEncrypted, trustedProxies };
}

function only(address: string): BlockList {
  const list = new BlockList();
  list.addAddress(address);
  return list;
}

/** An address in a list. */
function firstOf({ rules }: BlockList): string | undefined {
  return /IPv[46] ([^/\s-]+)/.exec(rules[0] ?? "")?.[1];
}

/** Lets Node's parser and the server's own limits read the request from memory. */
function statusOf(
  { bytes, peer, isEncrypted }: Arrival,
  refusal: ReturnType<typeof createRouter>["refusal"],
  listener: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const written: Buffer[] = [];
  const connection = new Duplex({
    read() {},
    write(chunk: Buffer, _encoding, done) {
      written.push(chunk);
      done();
    },
    destroy(error, done) {
      resolve(Number(/^HTTP\/1\.1 ([0-9]{3})/.exec(Buffer.concat(written).toString("latin1"))?.[1] ?? 400));
      done(error);
    },
  });
  Object.assign(connection, { remoteAddress: peer, ...(isEncrypted && { encrypted: true }) });
  const server = createHttpServer(listener, { tls: undefined, refusal });
  server.emit("connection", connection);
  connection.on("finish", () => connection.destroy());
  connection.push(bytes);
  connection.push(null);
  return promise.finally(() => server.close());
}
