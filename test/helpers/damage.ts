import { closeSync, fstatSync, openSync, readSync, statSync, writeSync } from "node:fs";

const PAGE_BYTES = 4096;

// SQLite, File Format, 4.1.
const LOG_HEADER_BYTES = 32;
const FRAME_BYTES = 24 + PAGE_BYTES;

/** Flips a bit of the page in one frame of a log (WAL), by its number from 0; by default the one in the middle. */
export function flipBitOfFrame(log: string, frame = Math.floor(framesIn(log) / 2)): void {
  flipBit(log, LOG_HEADER_BYTES + frame * FRAME_BYTES + 500);
}

/** How many frames a log has, those of an earlier lap included. */
export function framesIn(log: string): number {
  return Math.floor((statSync(log).size - LOG_HEADER_BYTES) / FRAME_BYTES);
}

/** Flips the lowest bit of one byte of a file. */
export function flipBit(file: string, at: number): void {
  const fd = openSync(file, "r+");
  const byte = Buffer.alloc(1);
  readSync(fd, byte, 0, 1, at);
  byte[0] = (byte[0] as number) ^ 1;
  writeSync(fd, byte, 0, 1, at);
  closeSync(fd);
}

/** Flips the highest bit of the first byte of every page but the first: the byte that says what kind of page it is. */
export function flipBits(file: string): void {
  const fd = openSync(file, "r+");
  const byte = Buffer.alloc(1);
  for (let at = PAGE_BYTES; at < fstatSync(fd).size; at += PAGE_BYTES) {
    readSync(fd, byte, 0, 1, at);
    byte[0] = (byte[0] as number) ^ 0x80;
    writeSync(fd, byte, 0, 1, at);
  }
  closeSync(fd);
}
