const SECTION_HEADER_BYTES = 64;
const SHT_SYMTAB = 2;
const SHT_STRTAB = 3;
const SHF_ALLOC = 2n;

interface Section {
  index: number;
  name: number;
  type: number;
  flags: bigint;
  offset: number;
  size: number;
  header: Buffer;
}

/**
 * Takes symbols and debug information out of a 64-bit little-endian ELF file (gABI 4, "Sections"), whatever its
 * processor, so that a build needs no toolchain per platform. What is loaded when the program runs stays as it is.
 */
export function stripElf(file: Buffer): Buffer {
  if (file.readUInt32BE(0) !== 0x7f454c46 || file[4] !== 2 || file[5] !== 1) throw new Error("not a 64-bit ELF file");
  const count = file.readUInt16LE(60);
  const namesIndex = file.readUInt16LE(62);
  const sections = Array.from({ length: count }, (_, index) => readSection(file, index));
  const names = sections[namesIndex];
  if (!names) throw new Error("no section names");
  const nameOf = (section: Section) => {
    const start = names.offset + section.name;
    return file.toString("latin1", start, file.indexOf(0, start));
  };
  const isUseless = (section: Section) =>
    (section.flags & SHF_ALLOC) === 0n &&
    (section.type === SHT_SYMTAB ||
      (section.type === SHT_STRTAB && section.index !== namesIndex) ||
      nameOf(section).startsWith(".debug"));

  const kept = sections.filter((section) => !isUseless(section));
  const newIndex = new Map(kept.map((section, index) => [section.index, index]));
  const isTrailing = (section: Section) => section.index > 0 && (section.flags & SHF_ALLOC) === 0n;
  const loadedEnd = kept
    .filter((section) => !isTrailing(section))
    .reduce((end, { type, offset, size }) => Math.max(end, type === 8 ? offset : offset + size), segmentsEnd(file));

  const parts: Buffer[] = [Buffer.from(file.subarray(0, loadedEnd))];
  let length = loadedEnd;
  const append = (bytes: Buffer) => {
    const padding = Buffer.alloc(-length & 7);
    parts.push(padding, bytes);
    const offset = length + padding.length;
    length = offset + bytes.length;
    return offset;
  };
  const headers = kept.map((section) => {
    const header = Buffer.from(section.header);
    if (isTrailing(section)) {
      header.writeBigUInt64LE(BigInt(append(file.subarray(section.offset, section.offset + section.size))), 24);
    }
    header.writeUInt32LE(newIndex.get(header.readUInt32LE(40)) ?? 0, 40);
    return header;
  });
  const headersOffset = append(Buffer.concat(headers));
  const head = parts[0] as Buffer;
  head.writeBigUInt64LE(BigInt(headersOffset), 40);
  head.writeUInt16LE(kept.length, 60);
  head.writeUInt16LE(newIndex.get(namesIndex) as number, 62);
  return Buffer.concat(parts);
}

function readSection(file: Buffer, index: number): Section {
  const at = Number(file.readBigUInt64LE(40)) + index * SECTION_HEADER_BYTES;
  const header = file.subarray(at, at + SECTION_HEADER_BYTES);
  return {
    index,
    name: header.readUInt32LE(0),
    type: header.readUInt32LE(4),
    flags: header.readBigUInt64LE(8),
    offset: Number(header.readBigUInt64LE(24)),
    size: Number(header.readBigUInt64LE(32)),
    header,
  };
}

/** Where the last segment that is loaded ends in the file. */
function segmentsEnd(file: Buffer): number {
  const table = Number(file.readBigUInt64LE(32));
  let end = 0;
  for (let index = 0; index < file.readUInt16LE(56); index++) {
    const at = table + index * file.readUInt16LE(54);
    end = Math.max(end, Number(file.readBigUInt64LE(at + 8)) + Number(file.readBigUInt64LE(at + 32)));
  }
  return end;
}
