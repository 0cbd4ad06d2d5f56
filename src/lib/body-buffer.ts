import { AppError } from "../errors.ts";
import { createCounts } from "./counts.ts";
import { networkOf } from "./network.ts";

// Limits large bodies that are still arriving. Their senders are not verified yet: 1,500 senders of 1 MB each would
// take
// 1.6 GB.
const MAX_RESERVED_BYTES = 64 * 1024 * 1024;
// A share for each network, so that one network cannot use up the limit.
const MAX_RESERVED_BYTES_PER_NETWORK = MAX_RESERVED_BYTES / 4;

// One read of a socket returns up to 64 KiB. Buffers up to this size are not limited, so that logins and nearly all
// deliveries are always accepted.
const UNLIMITED_BYTES = 64 * 1024;

const FIRST_CAPACITY = 16 * 1024;

/** The bytes reserved for large bodies that are still arriving: in total, and by network. */
let reserved = 0;
const reservedByNetwork = createCounts();

const limitedSize = (capacity: number) => (capacity > UNLIMITED_BYTES ? capacity : 0);

/** A single body is never over the limit, however large it is. */
const isOver = (others: number, own: number, max: number) => others > 0 && own > 0 && others + own > max;

/** Changes the reservation of a body. Throws `queue_full` when the total or the network's share is used up. */
function reserve(network: string, from: number, to: number): void {
  const [before, after] = [limitedSize(from), limitedSize(to)];
  const isFull =
    isOver(reserved - before, after, MAX_RESERVED_BYTES) ||
    isOver(reservedByNetwork.of(network) - before, after, MAX_RESERVED_BYTES_PER_NETWORK);
  if (isFull) throw new AppError("queue_full", { retryAfterSeconds: 1 });
  reserved += after - before;
  reservedByNetwork.add(network, after - before);
}

/**
 * Collects the bytes of a body in one growing buffer. Keeping the chunks would cost more: each chunk keeps the whole
 * socket read alive, so a body in chunks of one byte would take 400 times its size.
 */
export class BodyBuffer {
  size = 0;
  #bytes: Buffer | undefined;
  /** The size of the allocated buffer; 0 while the body is a single chunk. */
  #capacity = 0;
  readonly #expected: number;
  readonly #network: string;

  /** `expected` is the announced size, or the largest that is accepted; `address` is the sender's. */
  constructor(expected: number, address: string) {
    this.#expected = expected;
    this.#network = networkOf(address);
  }

  /** Throws `queue_full` when large unfinished bodies take too much memory, in total or from the sender's network. */
  add(chunk: Buffer): void {
    const before = this.size;
    this.size += chunk.length;
    if (this.#bytes === undefined) {
      this.#bytes = chunk;
      return;
    }
    if (this.size > this.#capacity) this.#grow(before);
    chunk.copy(this.#bytes, before);
  }

  #grow(used: number): void {
    // Not the announced size at once: a sender can announce any size without sending it.
    const capacity = Math.max(this.size, Math.min(this.#expected, Math.max(FIRST_CAPACITY, 2 * this.size)));
    reserve(this.#network, this.#capacity, capacity);
    this.#capacity = capacity;
    const larger = Buffer.allocUnsafeSlow(capacity);
    (this.#bytes as Buffer).copy(larger, 0, 0, used);
    this.#bytes = larger;
  }

  /** Returns all bytes received and releases the reservation. */
  take(): Buffer {
    const bytes = this.#bytes?.subarray(0, this.size) ?? Buffer.alloc(0);
    this.drop();
    return bytes;
  }

  /** Releases the bytes and the reservation. */
  drop(): void {
    reserve(this.#network, this.#capacity, 0);
    this.#capacity = 0;
    this.#bytes = undefined;
  }
}
