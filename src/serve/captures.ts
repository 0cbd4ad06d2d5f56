import { readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import type { IncomingMessage, RequestListener, Server } from "node:http";
import { join } from "node:path";
import { sourcesOf } from "../config/sources.ts";
import { systemCode } from "../errors.ts";
import { copyBody } from "../http/body.ts";
import { clientAddress, NOBODY } from "../http/proxies.ts";
import { pathOf } from "../http/router.ts";
import { isoTime } from "../lib/iso-time.ts";
import { createRepeatedError, type Repetition, repeat } from "../lib/repeat.ts";
import {
  CAPTURES_DIR,
  type CapturedFacts,
  type CaptureOrder,
  type CaptureState,
  MAX_CAPTURE_MS,
  ORDER_FILE,
  REQUEST_SUFFIX,
  readOrder,
  STATE_FILE,
  writeCaptured,
} from "../webhook/capture.ts";
import { redacted } from "../webhook/content/redact.ts";
import { pathOfSource } from "../webhook/endpoints.ts";
import { writeRawRequest } from "../webhook/held/raw-request.ts";
import type { Source } from "../webhook/source.ts";
import type { Wiring } from "./configuration.ts";
import type { Part } from "./parts.ts";

/** A capture that a command waits for. Its count and its bytes are what is left of them. */
interface Capture extends CaptureOrder {
  dir: string;
  bytesLeft: number;
}

const POLL_MS = 500;

/** For all requests of a capture. A source that accepts larger bodies may have one of them. */
const MAX_BYTES = 10 * 1024 * 1024;

// A command removes its folder itself, unless it was killed.
const LEFT_BEHIND_MS = 60_000;

const EVENTS = ["request", "checkContinue", "checkExpectation"] as const;

/**
 * Keeps requests to sources for commands that ask for them, as they came and whatever they are answered. Commands ask
 * for them by files in the data directory, so that credentials get into no database and no backup of one. Without a
 * capture, requests are not looked at.
 */
export function openCaptures({ settings, config, stores, log }: Wiring, server: Server): Part {
  const root = join(settings.DATA_DIR, CAPTURES_DIR);
  const open = new Map<string, Capture>();
  const writing = new Set<Promise<void>>();
  const writeFault = createRepeatedError();
  let polling: Repetition | undefined;
  let isWatching = false;
  let captured = 0;

  const sourceOf = (capture: CaptureOrder) =>
    sourcesOf(settings, config.current).find(({ name }) => name === capture.source);

  const onRequest: RequestListener = (request, response) => {
    for (const capture of open.values()) {
      if (capture.count <= 0 || capture.until <= Date.now()) continue;
      const source = sourceOf(capture);
      const path = source && pathOfSource(source, pathOf(request.url ?? ""));
      if (source === undefined || path === undefined) continue;
      capture.count -= 1;
      captured += 1;
      // In the order of arrival, also after a restart of the server.
      const name = `${Date.now()}-${String(captured).padStart(9, "0")}${REQUEST_SUFFIX}`;
      const arrival = { method: request.method ?? "", path, address: addressOf(request), receivedAt: stores.now() };
      const bodyOf = copyBody(request, roomIn(capture, source.bodyLimitBytes));
      // Also if the sender has left before.
      response.once("close", () => {
        const body = bodyOf();
        const facts = { ...arrival, status: response.headersSent ? response.statusCode : null };
        if (body !== null) keep(keepRequest(join(capture.dir, name), redactedRequest(source, request, body), facts));
        else {
          capture.count = 0;
          keep(writeWhole(join(capture.dir, STATE_FILE), "full" satisfies CaptureState));
        }
      });
    }
  };

  function addressOf(request: IncomingMessage): string | null {
    const address = clientAddress(request, settings.TRUSTED_PROXIES);
    return address === NOBODY ? null : address;
  }

  function keep(work: Promise<void>): void {
    const kept = work.then(writeFault.clear, reportWrite).finally(() => writing.delete(kept));
    writing.add(kept);
  }

  function watch(isWanted: boolean): void {
    if (isWanted === isWatching) return;
    isWatching = isWanted;
    for (const event of EVENTS) {
      if (isWanted) server.on(event, onRequest);
      else server.off(event, onRequest);
    }
  }

  async function poll(): Promise<void> {
    const ids = await namesIn(root);
    for (const id of open.keys()) if (!ids.includes(id)) open.delete(id);
    const results = await Promise.allSettled(ids.map(attend));
    watch(open.size > 0);
    const failed = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
    const cause = failed.find((reason) => !isGone(reason));
    if (cause !== undefined) throw cause;
  }

  async function attend(id: string): Promise<void> {
    const dir = join(root, id);
    const order = open.get(id) ?? readOrder(await readFile(join(dir, ORDER_FILE), "utf8").catch(emptyIfGone));
    if (order === null) return;
    const until = Math.min(order.until, Date.now() + MAX_CAPTURE_MS);
    if (until + LEFT_BEHIND_MS < Date.now()) {
      open.delete(id);
      await rm(dir, { recursive: true, force: true });
    } else if (!open.has(id)) {
      const bytesLeft = Math.max(MAX_BYTES, (sourceOf(order)?.bodyLimitBytes ?? 0) + 1);
      open.set(id, { ...order, until, dir, bytesLeft });
      // The command takes it for the promise that the next request is kept.
      watch(true);
      await writeWhole(join(dir, STATE_FILE), "open" satisfies CaptureState);
      const { source, count } = order;
      log.info(
        { event: "capture_opened", source, count, until: isoTime(until) },
        "requests are kept for sources capture",
      );
    }
  }

  function reportWrite(cause: unknown): void {
    if (isGone(cause)) return;
    const error = writeFault.news(cause);
    if (error !== null) report(error);
  }

  function report(error: string): void {
    log.warn({ event: "capture_error", error }, "requests are not kept for sources capture");
  }

  return {
    start() {
      polling = repeat(poll, { everyMs: POLL_MS, onError: report });
    },
    async stop() {
      await polling?.stop();
      watch(false);
      await Promise.all(writing);
    },
  };
}

/** Copies a body as long as the capture has room. One byte above the limit shows that it was too large. */
function roomIn(capture: Capture, limitBytes: number): (chunk: Buffer) => Buffer | null {
  let left = limitBytes + 1;
  return (chunk) => {
    const part = chunk.subarray(0, left);
    left -= part.length;
    capture.bytesLeft -= part.length;
    return capture.bytesLeft < 0 ? null : part;
  };
}

type CapturedRequest = Parameters<typeof writeRawRequest>[0];

/** A request as it is kept. Of a body that a source cannot redact, nothing is. */
function redactedRequest(source: Source, request: IncomingMessage, body: Buffer): Omit<CapturedRequest, "method"> {
  const { url: target = "", rawHeaders, headers } = request;
  if (source.redact === undefined) return { target, rawHeaders, body };
  const kept = redacted(source, body, headers["content-type"] ?? "");
  if (kept === null) return { target: pathOf(target), rawHeaders, body: Buffer.alloc(0) };
  return { target: kept.target(target), rawHeaders: rawHeaders.map(kept.header), body: kept.bytes };
}

async function keepRequest(
  file: string,
  request: Omit<CapturedRequest, "method">,
  facts: CapturedFacts,
): Promise<void> {
  const bytes = writeRawRequest({ method: facts.method, ...request });
  await writeWhole(file, writeCaptured(facts, bytes));
}

/** Writes a file that appears when it is whole. */
async function writeWhole(file: string, content: string | Buffer): Promise<void> {
  const partial = `${file}.partial`;
  await writeFile(partial, content, { mode: 0o600 });
  await rename(partial, file);
}

async function namesIn(dir: string): Promise<string[]> {
  return readdir(dir).catch((error: unknown) => {
    if (isGone(error)) return [];
    throw error;
  });
}

function emptyIfGone(error: unknown): string {
  if (isGone(error)) return "";
  throw error;
}

/** Whether the folder is missing. A command removes its folder when it ends. */
function isGone(error: unknown): boolean {
  return systemCode(error) === "ENOENT";
}
