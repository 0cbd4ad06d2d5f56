import { once } from "node:events";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { type ConnectionOptions, connect } from "node:tls";

/** The paths of a certificate and its key. */
export interface Pair {
  cert: string;
  key: string;
}

/** A self-signed pair for localhost. Its common name is the name of the pair. `ending` was valid for a day only. */
export function pairNamed(name: "first" | "second" | "ending"): Pair {
  const fixture = join(import.meta.dirname, "../fixtures", name);
  return { cert: `${fixture}.crt`, key: `${fixture}.key` };
}

/** Copies a pair to the files that the server uses. */
export function use(files: Pair, { cert, key }: Pair): void {
  copyFileSync(key, files.key);
  copyFileSync(cert, files.cert);
}

/** The common name of the certificate on a new connection. */
export async function shownName(port: number, more: ConnectionOptions = {}): Promise<string> {
  const socket = connect({ port, host: "127.0.0.1", rejectUnauthorized: false, ...more });
  await once(socket, "secureConnect");
  const name = String(socket.getPeerCertificate().subject.CN);
  socket.on("error", () => {}).end();
  return name;
}
