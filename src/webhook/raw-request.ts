/** An HTTP request as it was captured. */
export interface RawRequest {
  method: string;
  target: string;
  /** Names in lower case. Values of one name are joined by commas. Each character is one byte. */
  headers: Record<string, string>;
  body: Buffer;
  /** The body without its Content-Encoding, if that was removed. */
  decoded?: Buffer;
  /** Bytes that `Content-Length` announces and that are not there. */
  missingBytes: number;
}

/**
 * Parses a raw HTTP request, with LF or CRLF. The body is `Content-Length` bytes, else all after the blank line. Returns
 * what is wrong, with its line, if it is none.
 */
export function parseRawRequest(bytes: Buffer): RawRequest | string {
  const text = bytes.toString("latin1");
  const blank = /\r?\n\r?\n/.exec(text);
  const head = blank ? text.slice(0, blank.index) : text.replace(/\r?\n$/, "");
  const [requestLine = "", ...lines] = head.split(/\r?\n/);
  const [, method = "", target = ""] = /^([A-Za-z]+) (\S+)(?: HTTP\/[0-9.]+)?$/.exec(requestLine) ?? [];
  if (method === "") return "line 1 is no request line such as POST /webhook HTTP/1.1";
  const headers: Record<string, string> = {};
  for (const [index, line] of lines.entries()) {
    const [, name, value = ""] = /^([^\s:]+):[ \t]*(.*?)[ \t]*$/.exec(line) ?? [];
    if (name === undefined) return `line ${index + 2} is no header such as Content-Type: application/json`;
    const key = name.toLowerCase();
    headers[key] = headers[key] === undefined ? value : `${headers[key]}, ${value}`;
  }
  const rest = blank ? bytes.subarray(blank.index + blank[0].length) : Buffer.alloc(0);
  const announced = /^[0-9]{1,10}$/.test(headers["content-length"] ?? "")
    ? Number(headers["content-length"])
    : rest.length;
  return {
    method: method.toUpperCase(),
    target,
    headers,
    body: rest.subarray(0, announced),
    missingBytes: Math.max(0, announced - rest.length),
  };
}
