import { gzipSync } from "node:zlib";

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
