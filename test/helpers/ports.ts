import { randomInt } from "node:crypto";
import { findPort } from "../../src/http/listen.ts";

// From 32768 on Linux gives ports to connections and to listeners that name none, at any time.
const [LOWEST, END] = [12_000, 32_768];

/** A port of 127.0.0.1 that stays free until a program is started there, also again after it has ended. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = await findPort({ port: randomInt(LOWEST, END), host: "127.0.0.1" }).catch(() => null);
    if (port !== null) return port;
  }
}
