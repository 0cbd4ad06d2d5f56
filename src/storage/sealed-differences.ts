import { type PayloadCodec, ROW } from "./payload-codec.ts";

interface Texts {
  place: string;
  expected: string;
  found: string;
}

/** Encrypts where answers differ, which may have values of payloads, and decrypts it. */
export function differenceCodec(codec: PayloadCodec) {
  const textsOf = (event: number, shadow: string, difference: string) =>
    JSON.parse(codec.openText(ROW.difference(event, shadow), difference)) as Texts;
  return {
    sealed: (event: number, shadow: string, { place, expected, found }: Texts): string =>
      codec.sealText(ROW.difference(event, shadow), JSON.stringify({ place, expected, found })),
    opened: <Row extends { event: number; difference: string }>(
      shadow: string,
      { event, difference, ...row }: Row,
    ) => ({
      ...row,
      ...textsOf(event, shadow, difference),
    }),
    /** The outcome of a kept difference. One whose key is lost counts as the usual one. */
    outcomeOf(shadow: string, event: number, difference: string): "failed" | "different" {
      try {
        return textsOf(event, shadow, difference).place === "answer" ? "failed" : "different";
      } catch {
        return "different";
      }
    },
  };
}
