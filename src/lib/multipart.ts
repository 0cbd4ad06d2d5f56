/** A part of a `multipart/form-data` body (RFC 7578). */
interface FormPart {
  name: string;
  /** Undefined for a field that is no file. */
  filename: string | undefined;
  bytes: Buffer;
}

// Known senders have a few parts, and short headers.
const MAX_PARTS = 1000;
const MAX_HEADER_BYTES = 8 * 1024;

/**
 * Splits a `multipart/form-data` body into its parts, without copying them. Null if it is malformed, has no end, or has
 * more parts or longer headers than the limits. It takes linear time.
 */
export function parseMultipart(body: Buffer, contentType: string): FormPart[] | null {
  const boundary = boundaryIn(contentType);
  if (boundary === null) return null;
  const delimiter = Buffer.from(`\r\n--${boundary}`, "latin1");
  const parts: FormPart[] = [];
  let at = endOfFirst(delimiter, body);
  while (at !== null) {
    if (body.toString("latin1", at, at + 2) === "--") return parts;
    const head = headAt(body, at);
    if (head === null || parts.length === MAX_PARTS) return null;
    const next = endOf(delimiter, body, head.end);
    const names = namesIn(head.text);
    if (next === null || names === null) return null;
    parts.push({ ...names, bytes: body.subarray(head.end, next - delimiter.length) });
    at = next;
  }
  return null;
}

/** A body with these fields. The boundary must be in none of them. */
export function formatMultipart(fields: Iterable<readonly [name: string, value: string]>, boundary: string): string {
  const parts = [...fields].map(([name, value]) => {
    const quoted = name.replace(/["\r\n]/g, encodeURIComponent);
    return `--${boundary}\r\nContent-Disposition: form-data; name="${quoted}"\r\n\r\n${value}\r\n`;
  });
  return `${parts.join("")}--${boundary}--\r\n`;
}

/** The boundary that a content type names (RFC 2046, 5.1.1); null without one. */
export function boundaryIn(contentType: string): string | null {
  const match = /;[ \t]*boundary=(?:"([^"\r\n]{1,70})"|([^\s;"]{1,70}))[ \t]*(?:;|$)/i.exec(contentType);
  return match?.[1] ?? match?.[2] ?? null;
}

/**
 * The boundary that a body seems to have: that of its first line with two hyphens before it; null without one. It can
 * be quoted.
 */
export function boundaryOf(body: Buffer): string | null {
  const match = /(?:^|\r\n)--([ !#-[\]-~]{1,70}?)[ \t]*\r\n/.exec(body.toString("latin1", 0, MAX_HEADER_BYTES));
  return match?.[1] ?? null;
}

/**
 * The position behind the first delimiter. What precedes it has no meaning, and usually there is nothing, not even a
 * line end.
 */
function endOfFirst(delimiter: Buffer, body: Buffer): number | null {
  const start = delimiter.subarray(2);
  const isAtStart = start.equals(body.subarray(0, start.length));
  return isAtStart ? start.length : endOf(delimiter, body, 0);
}

/** The position behind the next place of some bytes; null if they are not there. */
function endOf(bytes: Buffer, body: Buffer, from: number): number | null {
  const at = body.indexOf(bytes, from);
  return at === -1 ? null : at + bytes.length;
}

/** The headers of a part, from the rest of the line with its delimiter to the blank line. */
function headAt(body: Buffer, at: number): { text: string; end: number } | null {
  const head = body.subarray(at, at + MAX_HEADER_BYTES);
  const blankLine = head.indexOf("\r\n\r\n");
  if (blankLine === -1) return null;
  const size = blankLine + 4;
  const text = head.toString("utf8", 0, size);
  return /^[ \t]*\r\n/.test(text) ? { text, end: at + size } : null;
}

const PARAMETER = /;[ \t]*([\w*-]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))[ \t]*/gy;

/** The name and the name of the file in the `Content-Disposition` of a part; null if it has no name, or several. */
function namesIn(head: string): Pick<FormPart, "name" | "filename"> | null {
  const [, text] = /^content-disposition:[ \t]*form-data[ \t]*(;[^\r\n]*)\r$/im.exec(head) ?? [];
  if (text === undefined) return null;
  const parameters = [...text.matchAll(PARAMETER)];
  const isWhole = parameters.reduce((length, [all]) => length + all.length, 0) === text.length;
  const named = Map.groupBy(parameters, ([, key = ""]) => key.toLowerCase());
  const textOf = ([, , quoted, token]: RegExpExecArray) => quoted?.replace(/\\(["\\])/g, "$1") ?? token ?? "";
  const [name, ...others] = (named.get("name") ?? []).map(textOf);
  if (!isWhole || name === undefined || others.length > 0) return null;
  return { name, filename: (named.get("filename") ?? named.get("filename*"))?.map(textOf)[0] };
}
