import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { createSecureContext } from "node:tls";
import * as v from "valibot";
import { systemCode } from "../../errors.ts";
import { defined } from "../../lib/defined.ts";
import type { TargetTls } from "../../worker/route.ts";
import { key, textLike } from "./fields.ts";
import type { Reading } from "./reading.ts";
import { becomes, map } from "./shape.ts";

const PEM = v.pipe(textLike(/^[^\0]+$/, "expected the path of a file"), becomes(readPem));

/** Certificates in files, which are in PEM and relative to the configuration file. */
export const TlsSchema = map(
  {
    ca: key(PEM, "File with the authorities, or the self-signed certificate, that are trusted instead of all others."),
    cert: key(PEM, "File with the certificate by which the server shows who it is, and its chain."),
    key: key(PEM, "File with the private key of `cert`."),
  },
  "expected a map with ca, or cert and key",
  {
    check(entry, reading) {
      if ("cert" in entry !== "key" in entry) reading.fault("found only one of cert and key, expected both");
    },
    read(entry, reading): TargetTls | null {
      const files = defined(entry);
      try {
        createSecureContext(files);
        return files;
      } catch {
        return reading.fault(
          "found files that cannot be used, expected PEM, and the key of the certificate without a password",
        );
      }
    },
  },
);

function readPem(name: string, reading: Reading): string | null {
  try {
    const text = readFileSync(resolve(reading.context.folder, name), "utf8");
    if (text.includes("-----BEGIN ")) return text;
    return reading.fault("found a file that is not PEM, expected one that is");
  } catch (error) {
    return reading.fault(`found a file that cannot be read (${systemCode(error)}), expected a readable one`);
  }
}
