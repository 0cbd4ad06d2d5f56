/** How often a header was sent, in Node's flat list of names and values; `name` is in lower case. Node keeps one of several. */
export function countHeader(rawHeaders: readonly string[], name: string): number {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const sent = rawHeaders[i] as string;
    if (sent.length === name.length && sent.toLowerCase() === name) count++;
  }
  return count;
}
