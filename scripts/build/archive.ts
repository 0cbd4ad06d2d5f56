import { crc32, deflateRawSync, gzipSync } from "node:zlib";

/** A file inside an archive. */
export interface Entry {
  path: string;
  content: Buffer;
  executable: boolean;
}

const TAR_BLOCK = 512;

/** A gzipped POSIX ustar archive. Owner and times are fixed, so equal entries give equal bytes. */
export function tarGz(entries: readonly Entry[]): Buffer {
  const parts: Buffer[] = [];
  for (const { path, content, executable } of entries) {
    const header = Buffer.alloc(TAR_BLOCK);
    if (Buffer.byteLength(path) > 100) throw new Error(`${path} is too long for a ustar header`);
    header.write(path, 0);
    header.write(executable ? "0000755\0" : "0000644\0", 100);
    header.write("0000000\0".repeat(2), 108);
    header.write(`${content.length.toString(8).padStart(11, "0")}\0`, 124);
    header.write("00000000000\0", 136);
    header.write("        0", 148);
    header.write("ustar\u000000", 257);
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
    parts.push(header, content, Buffer.alloc(-content.length & (TAR_BLOCK - 1)));
  }
  parts.push(Buffer.alloc(TAR_BLOCK * 2));
  return gzipSync(Buffer.concat(parts), { level: 9 });
}

// 1980-01-01, the earliest day the format knows.
const ZIP_DATE = 0x21;

/** A zip archive (APPNOTE 6.3.3). Times are fixed, so equal entries give equal bytes. */
export function zip(entries: readonly Entry[]): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { path, content } of entries) {
    const name = Buffer.from(path);
    const packed = deflateRawSync(content, { level: 9 });
    const facts = Buffer.alloc(26);
    facts.writeUInt16LE(20, 0);
    facts.writeUInt16LE(8, 4);
    facts.writeUInt16LE(ZIP_DATE, 8);
    facts.writeUInt32LE(crc32(content), 10);
    facts.writeUInt32LE(packed.length, 14);
    facts.writeUInt32LE(content.length, 18);
    facts.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([Buffer.from("PK\u0003\u0004"), facts, name]);
    const central = Buffer.alloc(14);
    central.writeUInt32LE(offset, 10);
    directory.push(Buffer.from("PK\u0001\u0002\u0014\u0000"), facts, central, name);
    parts.push(local, packed);
    offset += local.length + packed.length;
  }
  const central = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(entries.length, 4);
  end.writeUInt16LE(entries.length, 6);
  end.writeUInt32LE(central.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...parts, central, Buffer.from("PK\u0005\u0006"), end]);
}
