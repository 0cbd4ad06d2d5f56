import type { IncomingMessage } from "node:http";
import { allowBody } from "./body.ts";

/**
 * Copies the body of a request while it arrives, whoever reads it, and also one that its sender sends only after `100
 * Continue`. Call in the turn in which Node hands over the request. `take` returns the part of a chunk to keep, or null
 * to drop the copy. Returns a function that returns the copy so far; null if it was dropped.
 */
export function copyBody(request: IncomingMessage, take: (chunk: Buffer) => Buffer | null): () => Buffer | null {
  let chunks: Buffer[] | null = [];
  const push = request.push;
  // Not by the event `data`, whose listener would take the body from the handler.
  request.push = (chunk: Buffer | null, encoding) => {
    if (chunk !== null && chunks !== null) {
      const part = take(chunk);
      if (part === null) chunks = null;
      else chunks.push(part);
    }
    return push.call(request, chunk, encoding);
  };
  allowBody(request);
  return () => chunks && Buffer.concat(chunks);
}
