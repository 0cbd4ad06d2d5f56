import { AppError } from "../errors.ts";

// Of bodies that come in several pieces, until they are whole. Whoever sends them has proved nothing yet: 1,500 senders of
// 1 MB each would take 1.6 GB. A body that comes in one piece, as nearly all do, is not counted.
export const MAX_UNFINISHED_BYTES = 64 * 1024 * 1024;

const FIRST_ROOM = 16 * 1024;

/** What is set aside for all bodies that are coming now. */
let setAside = 0;

/**
 * The bytes of a body, put together as they come. Pieces are not kept: each is an object of its own and holds what the
 * socket has read with it, so that a body in pieces of one byte would take 400 times its size.
 */
export class BodyBytes {
  size = 0;
  #bytes: Buffer | undefined;
  /** What is set aside for this body; 0 while it is one piece. */
  #room = 0;
  readonly #expected: number;

  /** `expected` is the announced size, or the largest that is accepted. */
  constructor(expected: number) {
    this.#expected = expected;
  }

  /** Throws `queue_full` when bodies that are coming take too much together; one may always come. */
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
    const others = setAside - this.#room;
    if (others > 0 && others + room > MAX_UNFINISHED_BYTES) throw new AppError("queue_full", { retryAfterSeconds: 1 });
    const larger = Buffer.allocUnsafeSlow(room);
    (this.#bytes as Buffer).copy(larger, 0, 0, used);
    this.#bytes = larger;
    setAside = others + room;
    this.#room = room;
  }

  /** Everything that has come. The place of this body is free then. */
  take(): Buffer {
    this.drop();
    return this.#bytes?.subarray(0, this.size) ?? Buffer.alloc(0);
  }

  /** Gives back what is set aside, when the body is whole, or nobody wants it any more. */
  drop(): void {
    setAside -= this.#room;
    this.#room = 0;
  }
}
