// A claim reads and hands over its payloads while deliveries wait: 0.1 s for these.
const MAX_PAYLOAD_BYTES = 8 * 1024 * 1024;

/** Takes rows while their payloads fit into one transaction: one whatever its size. Reads no further than that. */
export function takeFitting<Row extends { payload: Uint8Array }>(rows: Iterable<Row>): Row[] {
  const taken: Row[] = [];
  let bytes = 0;
  for (const row of rows) {
    bytes += row.payload.length;
    if (taken.length > 0 && bytes > MAX_PAYLOAD_BYTES) break;
    taken.push(row);
  }
  return taken;
}
