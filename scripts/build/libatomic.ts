import { readSections, type Section, textAt } from "./elf.ts";

const LIBRARY = "libatomic.so.1";
const FUNCTION = "__atomic_compare_exchange";

/** The Node whose calls of {@link FUNCTION} were read: all of them are for 8 bytes. */
const REVIEWED_NODE = "26.10.0";

const EM_X86_64 = 62;
const EM_AARCH64 = 183;
const DT_NEEDED = 1n;
const DT_VERNEED = 0x6ffffffen;
const DT_VERNEEDNUM = 0x6fffffffn;

/**
 * Frees Node's Linux executable from libatomic, which small systems lack and of which it uses one function: gives it that
 * function, and takes the library from the list of what the loader must find. The function is written over its own entry
 * of the procedure linkage table and the table's first entry, which only lazy binding needs and Node is not bound lazily.
 */
export function withoutLibatomic(source: Buffer, nodeVersion: string): Buffer {
  if (nodeVersion !== REVIEWED_NODE) {
    throw new Error(`Node ${nodeVersion}: read how it calls ${FUNCTION}, then name it in scripts/build/libatomic.ts`);
  }
  const file = Buffer.from(source);
  const sections = new Map(readSections(file).map((section) => [section.name, section]));
  const section = (name: string): Section => {
    const found = sections.get(name);
    if (!found) throw new Error(`the executable has no section ${name}`);
    return found;
  };
  const { symbol, relocation } = findImport(file, section);
  const entry = relocation.index;
  const plt = section(".plt");
  const machine = file.readUInt16LE(18);
  if (machine === EM_X86_64) patchX64(file, plt, entry, relocation.target);
  else if (machine === EM_AARCH64) patchArm64(file, plt, entry, relocation.target);
  else throw new Error(`no ${FUNCTION} for ELF machine ${machine}`);

  // Weak and unversioned: nobody has to define it.
  file.writeUInt8((2 << 4) | 2, section(".dynsym").offset + symbol * 24 + 4);
  file.writeUInt16LE(1, section(".gnu.version").offset + symbol * 2);
  forgetLibrary(file, section);
  return file;
}

function findImport(file: Buffer, section: (name: string) => Section) {
  const [symbols, names, relocations] = [section(".dynsym"), section(".dynstr"), section(".rela.plt")];
  for (let index = 0; index < relocations.size / 24; index++) {
    const at = relocations.offset + index * 24;
    const symbol = file.readUInt32LE(at + 12);
    if (textAt(file, names.offset + file.readUInt32LE(symbols.offset + symbol * 24)) !== FUNCTION) continue;
    return { symbol, relocation: { index, target: Number(file.readBigUInt64LE(at)) } };
  }
  throw new Error(`the executable does not import ${FUNCTION}`);
}

/** Arguments in rdi (size), rsi (object), rdx (expected), rcx (desired); result in al (System V ABI, AMD64). */
function patchX64(file: Buffer, plt: Section, entry: number, target: number): void {
  const own = plt.offset + 16 + entry * 16;
  const address = plt.address + 16 + entry * 16;
  if (file.readUInt16LE(own) !== 0x25ff || address + 6 + file.readInt32LE(own + 2) !== target) {
    throw new Error("the procedure linkage table is not in the order of its relocations");
  }
  // mov rax,[rdx]; mov rcx,[rcx]; lock cmpxchg [rsi],rcx; jmp first
  file.write("488b02488b09f0480fb10ee9", own, "hex");
  file.writeInt32LE(plt.address - (address + 16), own + 12);
  // first: mov [rdx],rax; sete al; ret
  file.write("4889020f94c0c3", plt.offset, "hex");
}

/** Arguments in x0 (size), x1 (object), x2 (expected), x3 (desired); result in w0 (AAPCS64). */
function patchArm64(file: Buffer, plt: Section, entry: number, target: number): void {
  const own = plt.offset + 32 + entry * 16;
  const address = plt.address + 32 + entry * 16;
  const [adrp, ldr] = [file.readUInt32LE(own), file.readUInt32LE(own + 4)];
  const pages = (((adrp >>> 5) & 0x7ffff) << 2) | ((adrp >>> 29) & 3);
  const slot = Math.floor(address / 4096) * 4096 + ((pages << 11) >> 11) * 4096 + ((ldr >>> 10) & 0xfff) * 8;
  if (slot !== target) throw new Error("the procedure linkage table is not in the order of its relocations");
  const branch = (0x14000000 | (((plt.address - (address + 8)) / 4) & 0x3ffffff)) >>> 0;
  // ldr x8,[x2]; ldr x9,[x3]; b first; nop
  writeWords(file, own, [0xf9400048, 0xf9400069, branch, 0xd503201f]);
  // first: ldaxr x10,[x1]; cmp x10,x8; b.ne end; stlxr w0,x9,[x1]; cbnz w0,first; end: str x10,[x2]; cset w0,eq; ret
  writeWords(
    file,
    plt.offset,
    [0xc85ffc2a, 0xeb08015f, 0x54000061, 0xc800fc29, 0x35ffff80, 0xf900004a, 0x1a9f17e0, 0xd65f03c0],
  );
}

function writeWords(file: Buffer, offset: number, words: readonly number[]): void {
  for (const [index, word] of words.entries()) file.writeUInt32LE(word, offset + index * 4);
}

/** Takes the library out of the dynamic section and out of the versions that the loader asks for. */
function forgetLibrary(file: Buffer, section: (name: string) => Section): void {
  const [dynamic, names, needs] = [section(".dynamic"), section(".dynstr"), section(".gnu.version_r")];
  let dropped = 0;
  for (let at = needs.offset, before = -1, more = true; more; ) {
    const next = file.readUInt32LE(at + 12);
    if (textAt(file, names.offset + file.readUInt32LE(at + 4)) === LIBRARY) {
      if (before === -1) dropped = next;
      else file.writeUInt32LE(next === 0 ? 0 : at + next - before, before + 12);
    } else before = at;
    more = next !== 0;
    at += next;
  }
  const kept: Buffer[] = [];
  for (let at = dynamic.offset; at < dynamic.offset + dynamic.size; at += 16) {
    const item = Buffer.from(file.subarray(at, at + 16));
    const [tag, value] = [item.readBigUInt64LE(0), item.readBigUInt64LE(8)];
    if (tag === DT_NEEDED && textAt(file, names.offset + Number(value)) === LIBRARY) continue;
    if (tag === DT_VERNEED) item.writeBigUInt64LE(value + BigInt(dropped), 8);
    if (tag === DT_VERNEEDNUM) item.writeBigUInt64LE(value - 1n, 8);
    kept.push(item);
  }
  file.fill(0, dynamic.offset, dynamic.offset + dynamic.size);
  Buffer.concat(kept).copy(file, dynamic.offset);
}
