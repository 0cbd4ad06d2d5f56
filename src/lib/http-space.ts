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
