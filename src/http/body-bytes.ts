import { AppError } from "../errors.ts";

// Of large bodies, until they are whole. Whoever sends them has proved nothing yet: 1,500 senders of 1 MB each would take
// 1.6 GB.
const MAX_UNFINISHED_BYTES = 64 * 1024 * 1024;

// What comes in one piece is as large. A login, and nearly every delivery, finds its place however full it is.
const UNCOUNTED_ROOM = 64 * 1024;

const FIRST_ROOM = 16 * 1024;

/** What is set aside for the large bodies that are coming now. */
let setAside = 0;

function counted(room: number): number {
  return room > UNCOUNTED_ROOM ? room : 0;
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

  /** `expected` is the announced size, or the largest that is accepted. */
  constructor(expected: number) {
    this.#expected = expected;
  }

  /** Throws `queue_full` when large bodies that are coming take too much together; one may always come. */
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
    const others = setAside - counted(this.#room);
    const own = counted(room);
    if (own > 0 && others > 0 && others + own > MAX_UNFINISHED_BYTES)
      throw new AppError("queue_full", { retryAfterSeconds: 1 });
    const larger = Buffer.allocUnsafeSlow(room);
    (this.#bytes as Buffer).copy(larger, 0, 0, used);
    this.#bytes = larger;
    setAside = others + own;
    this.#room = room;
  }

  /** Everything that has come. The place of this body is free then. */
  take(): Buffer {
    const bytes = this.#bytes?.subarray(0, this.size) ?? Buffer.alloc(0);
    this.drop();
    return bytes;
  }

  /** Lets go of what has come, and of its place: the body is whole, or nobody wants it any more. */
  drop(): void {
    setAside -= counted(this.#room);
    this.#room = 0;
    this.#bytes = undefined;
  }
}
