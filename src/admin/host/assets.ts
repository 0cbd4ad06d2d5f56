import type { IncomingMessage } from "node:http";
import { gzipSync } from "node:zlib";
import type { Reply } from "../../http/problem.ts";

/** A file for browsers. */
export interface Asset {
  /** Media type. */
  type: string;
  bytes: Buffer;
  gzipped: Buffer;
}

/** A file with its media type, also compressed. */
export function assetOf(type: string, bytes: Buffer): Asset {
  return { type, bytes, gzipped: gzipSync(bytes, { level: 9 }) };
}

/** The reply with an asset, compressed if the browser takes that. */
export function assetReply({ type, bytes, gzipped }: Asset, { headers }: IncomingMessage): Reply {
  const takesGzip = /(?:^|,)[ \t]*gzip[ \t]*(?:,|$)/.test(String(headers["accept-encoding"] ?? ""));
  return {
    status: 200,
    body: takesGzip ? gzipped : bytes,
    headers: { "Content-Type": type, Vary: "Accept-Encoding", ...(takesGzip && { "Content-Encoding": "gzip" }) },
  };
}
