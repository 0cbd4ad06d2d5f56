/**
 * Removes the white space that HTTP allows around a value: spaces and tabs (RFC 9110, 5.6.3). `trim()` also removes a
 * byte such as 0xA0, which browsers and proxies keep: they would read another value than this service.
 */
export function trimSpace(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isSpace(text.charCodeAt(start))) start++;
  while (end > start && isSpace(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

const isSpace = (code: number) => code === 0x20 || code === 0x09;

/** The media types of JSON with a name of their own (RFC 6839), such as `application/hal+json`, as a range. */
export const NAMED_JSON = "application/*+json";

/** Whether a media type, in lower case, is in one of the ranges: `text/*`, {@link NAMED_JSON}, or exactly the type. */
export function isInRanges(mediaType: string, ranges: readonly string[]): boolean {
  return ranges.some(
    (range) =>
      range === mediaType ||
      range === "*/*" ||
      (range.endsWith("/*") && mediaType.startsWith(range.slice(0, -1))) ||
      (range === NAMED_JSON && /^application\/.+\+json$/.test(mediaType)),
  );
}

/** Whether a media type is JSON, e.g. `application/cloudevents+json`. */
export function isJson(mediaType: string): boolean {
  return mediaType === "application/json" || mediaType.endsWith("+json");
}

/** Whether a media type is a JSON value on each line (https://jsonlines.org). */
export function isJsonLines(mediaType: string): boolean {
  return /^application\/(?:x-)?(?:ndjson|jsonl|jsonlines|json-lines)$/.test(mediaType);
}

export const FORM = "application/x-www-form-urlencoded";
export const MULTIPART = "multipart/form-data";

/** The media type in a `Content-Type`, in lower case, without its parameters. */
export function mediaTypeIn(contentType: string): string {
  const end = contentType.indexOf(";");
  return trimSpace(end === -1 ? contentType : contentType.slice(0, end)).toLowerCase();
}

/** The charset that a `Content-Type` names, in lower case. */
export function charsetIn(contentType: string): string | undefined {
  return /;[ \t]*charset[ \t]*=[ \t]*"?([^\s;"]+)/i.exec(contentType)?.[1]?.toLowerCase();
}

/** All values of a header as sent, from Node's flat list of names and values. `name` is in lower case. */
export function headerValues(rawHeaders: readonly string[], name: string): string[] {
  const values: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const sent = rawHeaders[i] as string;
    if (sent.length === name.length && sent.toLowerCase() === name) values.push(rawHeaders[i + 1] as string);
  }
  return values;
}
