import { getAsset } from "node:sea";

/** Reads what the build put into the binary. */
export function readAsset(name: string): Buffer {
  return Buffer.from(getAsset(name));
}
