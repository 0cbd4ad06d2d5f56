import { readSections, type Section } from "./elf.ts";

const SHT_SYMTAB = 2;
const SHT_STRTAB = 3;
const SHT_NOBITS = 8;
const SHF_ALLOC = 2n;

/**
 * Removes symbols and debug information from an ELF file for any processor, so that a build needs no toolchain per
 * platform. Everything that is loaded at runtime stays unchanged.
 */
export function stripElf(file: Buffer): Buffer {
  const sections = readSections(file);
  const namesIndex = file.readUInt16LE(62);
  const isLoaded = ({ index, flags }: Section) => index === 0 || (flags & SHF_ALLOC) !== 0n;
  const isUseless = ({ index, type, name }: Section) =>
    type === SHT_SYMTAB || (type === SHT_STRTAB && index !== namesIndex) || name.startsWith(".debug");
  const kept = sections.filter((section) => isLoaded(section) || !isUseless(section));
  const newIndex = new Map(kept.map((section, index) => [section.index, index]));

  const loadedEnd = kept
    .filter(isLoaded)
    .reduce(
      (end, { type, offset, size }) => Math.max(end, offset + (type === SHT_NOBITS ? 0 : size)),
      segmentsEnd(file),
    );
  const head = Buffer.from(file.subarray(0, loadedEnd));
  const parts: Buffer[] = [head];
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
    if (!isLoaded(section)) {
      header.writeBigUInt64LE(BigInt(append(file.subarray(section.offset, section.offset + section.size))), 24);
    }
    header.writeUInt32LE(newIndex.get(header.readUInt32LE(40)) ?? 0, 40);
    return header;
  });
  head.writeBigUInt64LE(BigInt(append(Buffer.concat(headers))), 40);
  head.writeUInt16LE(kept.length, 60);
  head.writeUInt16LE(newIndex.get(namesIndex) as number, 62);
  return Buffer.concat(parts);
}

/** The end of the last loaded segment in the file. */
function segmentsEnd(file: Buffer): number {
  const table = Number(file.readBigUInt64LE(32));
  let end = 0;
  for (let index = 0; index < file.readUInt16LE(56); index++) {
    const at = table + index * file.readUInt16LE(54);
    end = Math.max(end, Number(file.readBigUInt64LE(at + 8)) + Number(file.readBigUInt64LE(at + 32)));
  }
  return end;
}
