import { sampleOf } from "../../webhook/samples/index.ts";
import { needsToSign, signAsSender } from "../../webhook/samples/signed-again.ts";
import type { HttpTarget, SenderSecret } from "../../worker/route.ts";
import type { Reading } from "./reading.ts";
import { readSecretRef, warnOfWeakness } from "./secrets.ts";

interface SenderKeys {
  /** Where the secret is. */
  secret: string | undefined;
  method: HttpTarget["method"] | undefined;
  body: HttpTarget["body"] | undefined;
}

/** Reads `signWith`, the preset as whose sender a target gets its events. Null with a fault. */
export function readSender(
  preset: string,
  { secret: reference, method, body = "raw" }: SenderKeys,
  reading: Reading,
): SenderSecret | null {
  const place = reading.at("signWith");
  const needed = needsToSign(preset);
  if (needed.length > 0)
    return place.fault(`found a preset that needs ${needed.join(", ")}, expected one that needs a secret only`);
  if (method === "GET" || method === "DELETE")
    return place.fault(`found beside ${method}, which sends no body, expected another method`, "key");
  if (body !== "raw") return place.fault(`found beside body: ${body}, expected one of them`, "key");
  if (reference === undefined) return place.fault("found without secret, expected the secret beside it", "key");
  const secret = readSecretRef(reference, reading.at("secret"));
  if (secret === null) return null;
  warnOfWeakness(secret, reading.at("secret"));
  const sender = { preset, secret: secret.value };
  return canSign(sender)
    ? sender
    : reading.at("secret").fault(`found ${reference}, with which ${preset} cannot sign, expected another one`);
}

function canSign(sender: SenderSecret): boolean {
  const { contentType, body, headers } = sampleOf(sender.preset, { now: 0 });
  const event = { contentType, payload: Buffer.from(body), headers: JSON.stringify(headers) };
  try {
    signAsSender(sender, event, "http://localhost/", 0);
    return true;
  } catch {
    return false;
  }
}
