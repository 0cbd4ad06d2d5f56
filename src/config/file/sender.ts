import { sampleOf } from "../../webhook/samples/index.ts";
import { needsToSign, signAsSender } from "../../webhook/samples/signed-again.ts";
import type { Secret } from "../../webhook/signature/secret.ts";
import type { HttpTarget, SenderSecret } from "../../worker/route.ts";
import type { Reading } from "./reading.ts";
import { warnOfWeakness } from "./secrets.ts";

/** What a target that gets its events as from a sender has besides. */
interface SenderKeys {
  signWith?: string | undefined;
  secret?: Secret | undefined;
  method?: HttpTarget["method"] | undefined;
  body?: HttpTarget["body"] | undefined;
}

/** Checks what is beside `signWith`, the preset of the sender. */
export function checkSender(entry: SenderKeys, reading: Reading): void {
  const { signWith: preset, method, body = "raw" } = entry;
  if (preset === undefined) return;
  const needed = needsToSign(preset);
  if (needed.length > 0)
    reading.fault(`found a preset that needs ${needed.join(", ")}, expected one that needs a secret only`);
  else if (method === "GET" || method === "DELETE")
    reading.fault(`found beside ${method}, which sends no body, expected another method`, "key");
  else if (body !== "raw") reading.fault(`found beside body: ${body}, expected one of them`, "key");
  else if (!("secret" in entry)) reading.fault("found without secret, expected the secret beside it", "key");
}

/** Signs as the sender of a preset. Null if it cannot with this secret. */
export function senderOf(preset: string, secret: Secret, reading: Reading): SenderSecret | null {
  warnOfWeakness(secret, reading);
  const sender = { preset, secret: secret.value };
  return canSign(sender)
    ? sender
    : reading.fault(`found ${secret.name}, with which ${preset} cannot sign, expected another one`);
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
