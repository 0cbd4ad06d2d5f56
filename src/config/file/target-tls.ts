import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { createSecureContext } from "node:tls";
import * as v from "valibot";
import { systemCode } from "../../errors.ts";
import { defined } from "../../lib/defined.ts";
import type { TargetTls } from "../../worker/route.ts";
import { key, textLike } from "./fields.ts";
import type { Reading } from "./reading.ts";
import type { Known } from "./shape.ts";

const FILE = textLike(/^[^\0]+$/, "expected the path of a file");

export const TlsSchema = v.strictObject(
  {
    ca: key(FILE, "File with the authorities, or the self-signed certificate, that are trusted instead of all others."),
    cert: key(FILE, "File with the certificate by which the server shows who it is, and its chain."),
    key: key(FILE, "File with the private key of `cert`."),
  },
  "expected a map with ca, or cert and key",
);

/** Reads the files of `tls`, in PEM and relative to the configuration file. Undefined with a fault. */
export function readTargetTls(
  entry: Known<v.InferOutput<typeof TlsSchema>>,
  url: string | undefined,
  reading: Reading,
): TargetTls | undefined {
  if (url?.startsWith("http:")) reading.fault("found beside an http URL, expected an https one", "key");
  const { cert, key } = entry;
  if ((cert === undefined) !== (key === undefined)) reading.fault("found only one of cert and key, expected both");
  const read = defined({
    ca: readPem(entry.ca, reading.at("ca")),
    cert: readPem(cert, reading.at("cert")),
    key: readPem(key, reading.at("key")),
  });
  if (reading.isWrong) return undefined;
  try {
    createSecureContext(read);
  } catch {
    reading.fault("found files that cannot be used, expected PEM, and the key of the certificate without a password");
  }
  return read;
}

function readPem(name: string | undefined, reading: Reading): string | undefined {
  if (name === undefined) return undefined;
  try {
    const text = readFileSync(resolve(reading.context.folder, name), "utf8");
    if (!text.includes("-----BEGIN ")) reading.fault("found a file that is not PEM, expected one that is");
    return text;
  } catch (error) {
    reading.fault(`found a file that cannot be read (${systemCode(error)}), expected a readable one`);
    return undefined;
  }
}
