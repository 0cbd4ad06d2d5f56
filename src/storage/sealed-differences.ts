import type { Difference, DifferenceRow, KeptDifference } from "../events/shadow.ts";
import { type PayloadCodec, ROW } from "./payload-codec.ts";

/** Encrypts differences of answers, which may have values of payloads, and decrypts them. */
export function differenceCodec(codec: PayloadCodec) {
  return {
    sealed: (event: number, shadow: string, { place, expected, found }: Difference): string =>
      codec.sealText(ROW.difference(event, shadow), JSON.stringify({ place, expected, found })),
    opened(shadow: string, { event, difference, ...row }: DifferenceRow): KeptDifference {
      const text = codec.openText(ROW.difference(event, shadow), difference);
      return { ...row, ...(JSON.parse(text) as Difference) };
    },
  };
}
