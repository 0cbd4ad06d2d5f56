import { AppError } from "../errors.ts";
import { createCounts } from "../lib/counts.ts";
import { networkOf } from "../lib/network.ts";

// Of large bodies, until they are whole. Whoever sends them has proved nothing yet: 1,500 senders of 1 MB each would take
// 1.6 GB.
const MAX_UNFINISHED_BYTES = 64 * 1024 * 1024;
// Of one network, so that it leaves room for others.
const MAX_UNFINISHED_BYTES_PER_NETWORK = MAX_UNFINISHED_BYTES / 4;

// What comes in one piece is as large. A login, and nearly every delivery, finds its place however full it is.
const UNCOUNTED_ROOM = 64 * 1024;

const FIRST_ROOM = 16 * 1024;

/** What is set aside for the large bodies that are coming now, in all and by network. */
let setAside = 0;
const setAsideFor = createCounts();

const counted = (room: number) => (room > UNCOUNTED_ROOM ? room : 0);

/** One body may always come, however large. */
const isOver = (others: number, own: number, max: number) => others > 0 && own > 0 && others + own > max;

/** Sets more or less aside for a body of a network. Throws `queue_full` when that is too much, in all or for the network. */
function resize(network: string, from: number, to: number): void {
  const [before, after] = [counted(from), counted(to)];
  const isFull =
    isOver(setAside - before, after, MAX_UNFINISHED_BYTES) ||
    isOver(setAsideFor.of(network) - before, after, MAX_UNFINISHED_BYTES_PER_NETWORK);
  if (isFull) throw new AppError("queue_full", { retryAfterSeconds: 1 });
  setAside += after - before;
  setAsideFor.add(network, after - before);
}

/**
 * The bytes of a body, put together as they come. Pieces are not kept: each is an object of its own and holds what the
 * socket has read with it, so that a body in pieces of one byte would take 400 times its size.
 */
export class BodyBytes {
  size = 0;
  #bytes: Buffer | undefined;
  /** The size of the buffer of this body's own; 0 while it is one piece. */
  #room = 0;
  readonly #expected: number;
  readonly #network: string;

  /** `expected` is the announced size, or the largest that is accepted; `address` is the sender's. */
  constructor(expected: number, address: string) {
    this.#expected = expected;
    this.#network = networkOf(address);
  }

  /** Throws `queue_full` when large bodies that are coming take too much, in all or from one network; one may always come. */
  add(piece: Buffer): void {
    const before = this.size;
    this.size += piece.length;
    if (this.#bytes === undefined) {
      this.#bytes = piece;
      return;
    }
    if (this.size > this.#room) this.#makeRoom(before);
    piece.copy(this.#bytes, before);
  }

  #makeRoom(used: number): void {
    // Never at once as much as was announced: that costs its sender nothing.
    const room = Math.max(this.size, Math.min(this.#expected, Math.max(FIRST_ROOM, 2 * this.size)));
    resize(this.#network, this.#room, room);
    this.#room = room;
    const larger = Buffer.allocUnsafeSlow(room);
    (this.#bytes as Buffer).copy(larger, 0, 0, used);
    this.#bytes = larger;
  }

  /** Everything that has come. The place of this body is free then. */
  take(): Buffer {
    const bytes = this.#bytes?.subarray(0, this.size) ?? Buffer.alloc(0);
    this.drop();
    return bytes;
  }

  /** Lets go of what has come, and of its place: the body is whole, or nobody wants it any more. */
  drop(): void {
    resize(this.#network, this.#room, 0);
    this.#room = 0;
    this.#bytes = undefined;
  }
}
