import type { Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from "node:zlib";
import { AppError } from "../errors.ts";
import { BodyBuffer } from "./body-buffer.ts";
import { trimSpace } from "./header-value.ts";

/** How a body may be compressed (RFC 9110, 8.4.1). */
export const CODINGS = ["gzip", "deflate", "br"] as const;

export type Coding = (typeof CODINGS)[number];

// Some senders name a charset here, or that there is no coding.
const NO_CODING = /^(?:identity|utf-?8|(?:us-)?ascii|iso-8859-[0-9]{1,2}|windows-125[0-9])?$/;

/** The coding that a header `Content-Encoding` names: null if there is none, undefined if it is unknown. */
export function codingIn(header = ""): Coding | null | undefined {
  const [name, ...others] = header
    .toLowerCase()
    .split(",")
    .map(trimSpace)
    .filter((one) => !NO_CODING.test(one));
  if (name === undefined) return null;
  if (others.length > 0) return undefined;
  return CODINGS.find((coding) => coding === (name === "x-gzip" ? "gzip" : name));
}

/**
 * Decodes a body. Throws `payload_too_large` as soon as it has more than `limitBytes`, `queue_full` when such bodies
 * take too much memory, and `invalid_payload` if it cannot be decoded.
 */
export function decodeBody(body: Buffer, coding: Coding, limitBytes: number, address = ""): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const decoder = decoderOf(coding, body);
    const decoded = new BodyBuffer(limitBytes, address);
    const refuse = (error: AppError) => {
      decoded.drop();
      decoder.destroy();
      reject(error);
    };
    decoder.on("data", (chunk: Buffer) => {
      try {
        decoded.add(chunk);
        if (decoded.size > limitBytes) refuse(new AppError("payload_too_large"));
      } catch (error) {
        refuse(error as AppError);
      }
    });
    decoder.on("error", () => refuse(undecodable(coding)));
    decoder.on("end", () => resolve(decoded.take()));
    decoder.end(body);
  });
}

function undecodable(coding: Coding): AppError {
  return new AppError("invalid_payload", { errors: [{ path: "", message: `is not valid ${coding}` }] });
}

function decoderOf(coding: Coding, body: Buffer): Transform {
  if (coding === "gzip") return createGunzip();
  if (coding === "br") return createBrotliDecompress();
  return isZlib(body) ? createInflate() : createInflateRaw();
}

/** Whether a deflated body has the header of zlib (RFC 1950, 2.2), which some senders leave out. */
function isZlib([method = 0, flags = 0]: Buffer): boolean {
  return (method & 0x0f) === 8 && (method * 256 + flags) % 31 === 0;
}
