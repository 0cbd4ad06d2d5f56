import { getAsset } from "node:sea";

/** Reads an asset that the build embedded in the binary. */
export function readAsset(name: string): Buffer {
  return Buffer.from(getAsset(name));
}
