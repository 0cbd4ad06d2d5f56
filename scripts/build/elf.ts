const SECTION_HEADER_BYTES = 64;

/** A section of a 64-bit little-endian ELF file (gABI 4, "Sections"). */
export interface Section {
  index: number;
  name: string;
  type: number;
  flags: bigint;
  offset: number;
  size: number;
  header: Buffer;
}

/** Reads the section table. Throws when the file is not a 64-bit ELF file. */
export function readSections(file: Buffer): Section[] {
  if (file.readUInt32BE(0) !== 0x7f454c46 || file[4] !== 2 || file[5] !== 1) throw new Error("not a 64-bit ELF file");
  const count = file.readUInt16LE(60);
  const headers = Array.from({ length: count }, (_, index) => {
    const at = Number(file.readBigUInt64LE(40)) + index * SECTION_HEADER_BYTES;
    return file.subarray(at, at + SECTION_HEADER_BYTES);
  });
  const names = Number(headers[file.readUInt16LE(62)]?.readBigUInt64LE(24));
  return headers.map((header, index) => ({
    index,
    name: textAt(file, names + header.readUInt32LE(0)),
    type: header.readUInt32LE(4),
    flags: header.readBigUInt64LE(8),
    offset: Number(header.readBigUInt64LE(24)),
    size: Number(header.readBigUInt64LE(32)),
    header,
  }));
}

/** The text that starts at an offset and ends before a zero byte. */
function textAt(file: Buffer, offset: number): string {
  return file.toString("latin1", offset, file.indexOf(0, offset));
}
