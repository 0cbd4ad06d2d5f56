import { closeSync, fstatSync, openSync, readSync, writeSync } from "node:fs";

const PAGE_BYTES = 4096;

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
