import { createSocket } from "node:dgram";
import { once } from "node:events";

const HEADER_BYTES = 12;
/** The answer to a question that follows the header: an address of IPv4 that is valid for a second. */
const LOOPBACK = Buffer.from([0xc0, HEADER_BYTES, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4, 127, 0, 0, 1]);

/** Starts a name server that says of every name that it is 127.0.0.1 (RFC 1035). */
export async function startNameServer(address: string): Promise<Disposable> {
  const socket = createSocket("udp4", (query, { port, address: client }) => {
    const end = query.indexOf(0, HEADER_BYTES) + 5;
    const isForIpv4 = query.readUInt16BE(end - 4) === 1;
    const answer = Buffer.from([...query.subarray(0, end), ...(isForIpv4 ? LOOPBACK : [])]);
    answer.set([0x81, 0x80, 0, 1, 0, Number(isForIpv4), 0, 0, 0, 0], 2);
    socket.send(answer, port, client);
  });
  socket.bind(53, address);
  await once(socket, "listening");
  return { [Symbol.dispose]: () => socket.close() };
}
