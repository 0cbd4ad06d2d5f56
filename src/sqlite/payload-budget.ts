// A claim reads, writes and hands over its payloads while deliveries wait: 0.1 s for these. A replay writes them.
const MAX_PAYLOAD_BYTES = 8 * 1024 * 1024;

/** How many payloads of these sizes one transaction takes: one whatever its size, and more as far as they fit. */
export function fitting(sizes: readonly number[]): number {
  let bytes = 0;
  const tooMuch = sizes.findIndex((size) => {
    bytes += size;
    return bytes > MAX_PAYLOAD_BYTES;
  });
  return tooMuch === -1 ? sizes.length : Math.max(1, tooMuch);
}
