import { type PayloadCodec, ROW } from "./payload-codec.ts";

interface Texts {
  place: string;
  expected: string;
  found: string;
}

/** Encrypts where answers differ, which may have values of payloads, and decrypts it. */
export function differenceCodec(codec: PayloadCodec) {
  return {
    sealed: (event: number, shadow: string, { place, expected, found }: Texts): string =>
      codec.sealText(ROW.difference(event, shadow), JSON.stringify({ place, expected, found })),
    opened<Row extends { event: number; difference: string }>(shadow: string, { event, difference, ...row }: Row) {
      const text = codec.openText(ROW.difference(event, shadow), difference);
      return { ...row, ...(JSON.parse(text) as Texts) };
    },
  };
}
