import { readEnvironment } from "../config/env-file.ts";
import { readSettings } from "../config/settings.ts";
import { readInstance } from "../http/instance.ts";
import { printable } from "../lib/printable.ts";
import { say } from "./output.ts";

/** A request to a path that no source has. */
interface StrayRequest {
  path: string | null;
  near: string | null;
  receivedAt: string;
  address: string;
}

/** The newest of the running server on this machine; none if it does not run. */
export function readStrays(): readonly StrayRequest[] {
  const { DATA_DIR } = readSettings(readEnvironment(), ["DATA_DIR"]);
  return readInstance(DATA_DIR)?.strays ?? [];
}

/** Says of each which path it was sent to, and which was probably meant. */
export function sayStrays(strays: readonly StrayRequest[], format: (at: number) => string): void {
  for (const { path, near, receivedAt, address } of strays) {
    const remedy = near === null ? "change the address at the sender" : `did you mean ${near}?`;
    const found = `no source has the path ${path}, where a request came (${format(Date.parse(receivedAt))}, from ${address})`;
    say(printable(`warning: ${found}: ${remedy}`));
  }
}
