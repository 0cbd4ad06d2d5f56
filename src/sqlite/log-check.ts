import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { systemCode } from "../errors.ts";

/** What SQLite would make of the write-ahead log (WAL) beside a database when it opens it alone. */
export interface LogInspection {
  /** Its header is not as it was written: SQLite would drop the log, whatever is in it. */
  isHeaderWrong: boolean;
  /** Nothing that belongs to the log lies behind the frame that SQLite takes for its end. */
  isWhole: boolean;
  /** Whole transactions behind a frame that is damaged, which SQLite would drop. What a power cut may leave is not counted. */
  lostTransactions: number;
}

const SOUND: LogInspection = { isHeaderWrong: false, isWhole: true, lostTransactions: 0 };

// SQLite, File Format, 4.1 and 4.2. The lowest bit of the magic number says in which order checksums take a word's bytes.
const MAGIC = 0x377f0682;
const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

type Sum = readonly [number, number];

// Longer than any clock that files are marked with takes from one time to the next.
const STILL_MS = 100;

/**
 * Reads the log of a database file from end to end, one frame at a time, and changes nothing. Damage is told of only when
 * the log stands still: one that somebody writes to changes while it is read, and SQLite has taken it in already.
 */
export function inspectLog(file: string): LogInspection {
  const first = look(file);
  if (!isDamaged(first.found)) return first.found;
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, STILL_MS);
  const second = look(file);
  const isStill = [first.after, second.before, second.after].every((state) => state === first.before);
  return isStill ? second.found : SOUND;
}

const isDamaged = ({ isHeaderWrong, lostTransactions }: LogInspection) => isHeaderWrong || lostTransactions > 0;

/** Reads a log once, and says what would tell of a change before and behind that. */
function look(file: string): { before: string; found: LogInspection; after: string } {
  let fd: number;
  try {
    fd = openSync(`${file}-wal`, "r");
  } catch (error) {
    if (systemCode(error) === "ENOENT") return { before: "", found: SOUND, after: "" };
    throw error;
  }
  try {
    return { before: stateOf(fd), found: inspect(fd), after: stateOf(fd) };
  } finally {
    closeSync(fd);
  }
}

function stateOf(fd: number): string {
  const header = Buffer.alloc(HEADER_BYTES);
  readSync(fd, header, 0, HEADER_BYTES, 0);
  const { ino, size, mtimeNs } = fstatSync(fd, { bigint: true });
  return [ino, size, mtimeNs, header.toString("hex")].join();
}

function inspect(fd: number): LogInspection {
  const header = Buffer.alloc(HEADER_BYTES);
  if (readSync(fd, header, 0, HEADER_BYTES, 0) < HEADER_BYTES) return SOUND;
  // As a file system may leave what was not on disk yet.
  if (header.every((byte) => byte === 0)) return SOUND;
  if (!isHeader(header)) return { isHeaderWrong: true, isWhole: false, lostTransactions: 0 };

  let hasEnded = false;
  let isWhole = true;
  let lostTransactions = 0;
  // In a chain that no frame breaks. One alone may be the last before a power cut, which wrote its frames in any order, or
  // one that failed: neither was acknowledged.
  let chained = 0;
  for (const { isOfThisLap, isNext, isCommit } of framesOf(fd, header)) {
    if (!isNext) {
      hasEnded = true;
      chained = 0;
    }
    if (hasEnded && isOfThisLap) isWhole = false;
    if (hasEnded && isNext && isCommit) {
      chained++;
      if (chained > 1) lostTransactions += chained === 2 ? 2 : 1;
    }
  }
  return { isHeaderWrong: false, isWhole, lostTransactions };
}

function isHeader(bytes: Buffer): boolean {
  const isMagic = [MAGIC, MAGIC + 1].includes(bytes.readUInt32BE(0));
  return isMagic && isSame(checksum(bytes, 0, 24, [0, 0], isLittleEndian(bytes)), sumAt(bytes, 24));
}

const isLittleEndian = (header: Buffer) => header.readUInt32BE(0) === MAGIC;

interface Frame {
  /** Frames with other salts than the header's are of an earlier lap of the log. */
  isOfThisLap: boolean;
  /** Follows the frame before it, as that one is, and is sound itself. */
  isNext: boolean;
  isCommit: boolean;
}

function* framesOf(fd: number, header: Buffer): Generator<Frame> {
  const bytes = Buffer.alloc(FRAME_HEADER_BYTES + header.readUInt32BE(8));
  let before = sumAt(header, 24);
  for (let at = HEADER_BYTES; readSync(fd, bytes, 0, bytes.length, at) === bytes.length; at += bytes.length) {
    const isOfThisLap = bytes.compare(header, 16, 24, 8, 16) === 0;
    const sum = sumAt(bytes, 16);
    const isNext = isOfThisLap && isSame(frameSum(bytes, before, isLittleEndian(header)), sum);
    yield { isOfThisLap, isNext, isCommit: bytes.readUInt32BE(4) > 0 };
    before = sum;
  }
}

/** A frame's checksum goes on from that of the frame before: over the page and the first 8 bytes of the header. */
function frameSum(frame: Buffer, before: Sum, littleEndian: boolean): Sum {
  const sum = checksum(frame, 0, 8, before, littleEndian);
  return checksum(frame, FRAME_HEADER_BYTES, frame.length, sum, littleEndian);
}

function checksum(bytes: Buffer, from: number, to: number, before: Sum, littleEndian: boolean): Sum {
  const words = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let [first, second] = before;
  for (let at = from; at < to; at += 8) {
    first = (first + words.getUint32(at, littleEndian) + second) >>> 0;
    second = (second + words.getUint32(at + 4, littleEndian) + first) >>> 0;
  }
  return [first, second];
}

const sumAt = (bytes: Buffer, at: number): Sum => [bytes.readUInt32BE(at), bytes.readUInt32BE(at + 4)];

const isSame = (one: Sum, other: Sum) => one[0] === other[0] && one[1] === other[1];
