import type { X509Certificate } from "node:crypto";

const EXTENSIONS = 0xa3;
const OID = 0x06;

interface Element {
  tag: number;
  content: Buffer;
}

/** The identifiers of the extensions of a certificate (RFC 5280, 4.1), e.g. `2.5.29.19`. Node does not tell them. */
export function extensionsOf({ raw }: Pick<X509Certificate, "raw">): string[] {
  const [certificate] = elementsOf(raw);
  const [signed] = elementsOf(certificate?.content);
  const list = elementsOf(signed?.content).find(({ tag }) => tag === EXTENSIONS);
  const [sequence] = elementsOf(list?.content);
  return elementsOf(sequence?.content).flatMap(({ content }) => {
    const [id] = elementsOf(content);
    return id?.tag === OID ? oidIn(id.content) : [];
  });
}

/** The elements in DER (X.690), one after the other. Ends at one that is not whole. */
function elementsOf(der: Buffer = Buffer.alloc(0)): Element[] {
  const elements: Element[] = [];
  let at = 0;
  while (at + 2 <= der.length) {
    const first = der[at + 1] as number;
    const sizeLength = first < 0x80 ? 0 : first & 0x7f;
    const start = at + 2 + sizeLength;
    if (sizeLength > 4 || start > der.length) break;
    const size = sizeLength === 0 ? first : der.readUIntBE(at + 2, sizeLength);
    if (first === 0x80 || start + size > der.length) break;
    elements.push({ tag: der[at] as number, content: der.subarray(start, start + size) });
    at = start + size;
  }
  return elements;
}

/** An object identifier with dots. The first byte has two numbers. */
function oidIn(bytes: Buffer): string {
  const numbers: number[] = [];
  let number = 0;
  for (const byte of bytes) {
    number = number * 128 + (byte & 0x7f);
    if (byte < 0x80) {
      numbers.push(number);
      number = 0;
    }
  }
  const [both = 0, ...rest] = numbers;
  const first = Math.min(Math.floor(both / 40), 2);
  return [first, both - 40 * first, ...rest].join(".");
}
