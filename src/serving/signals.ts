/**
 * What event loops and the worker tell each other through memory that their threads share: a message for each commit would
 * take more of the machine than the commit leaves it.
 */
export interface Signals {
  /** Goes to a thread, which makes signals of its own of it. */
  readonly memory: SharedArrayBuffer;
  /** Notes how many deliveries of a loop, which counts from 1, waited for the processor when it began a commit. */
  noteUnanswered(loop: number, count: number): void;
  /** How many deliveries wait for the processor; for a loop that began no commit for a while none do. */
  unanswered(): number;
  /** Notes that something new is stored. Returns whether nobody has since the worker looked: then it is to be told. */
  noteStored(): boolean;
  /** Notes that the worker looks for what is stored: it is to be told of whatever comes now. */
  noteLook(): void;
}

// Longer than a commit and the way to it, even of a slow disk.
const RECENT_MS = 20;

// In 32-bit words: whether the worker has been told, then for each loop the number of deliveries and when it was noted.
const FIRST_LOOP = 1;
const WORDS_PER_LOOP = 2;

/** Creates the signals of so many loops, or joins those whose memory it is given. */
export function createSignals(loopsOrMemory: number | SharedArrayBuffer): Signals {
  const memory =
    typeof loopsOrMemory === "number"
      ? new SharedArrayBuffer((FIRST_LOOP + WORDS_PER_LOOP * loopsOrMemory) * Int32Array.BYTES_PER_ELEMENT)
      : loopsOrMemory;
  const words = new Int32Array(memory);
  return {
    memory,
    noteUnanswered(loop, count) {
      const at = FIRST_LOOP + WORDS_PER_LOOP * (loop - 1);
      Atomics.store(words, at, count);
      Atomics.store(words, at + 1, sharedNow());
    },
    unanswered() {
      let sum = 0;
      for (let at = FIRST_LOOP; at < words.length; at += WORDS_PER_LOOP) {
        const notedAt = Atomics.load(words, at + 1);
        // Right also when the clock has begun again from 0 meanwhile.
        const ageMs = (sharedNow() - notedAt) >>> 0;
        if (ageMs < RECENT_MS) sum += Atomics.load(words, at);
      }
      return sum;
    },
    noteStored: () => Atomics.exchange(words, 0, 1) === 0,
    noteLook: () => void Atomics.store(words, 0, 0),
  };
}

/** Milliseconds of a clock that is the same in all threads and is never set, cut to 32 bits. `performance.now` is each thread's own. */
function sharedNow(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return (seconds * 1000 + Math.floor(nanoseconds / 1e6)) | 0;
}
