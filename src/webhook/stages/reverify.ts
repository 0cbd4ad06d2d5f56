import type { IncomingHttpHeaders } from "node:http";
import { AppError } from "../../errors.ts";
import type { NewEvent } from "../../events/store.ts";
import { codingIn } from "../../lib/content-coding.ts";
import { contentTypeOf, openBody } from "../content/body.ts";
import { wasRedacted } from "../content/redact.ts";
import { isHandshake } from "../handshakes/kinds.ts";
import { withCredentials } from "../held/held-credentials.ts";
import type { HeldDelivery } from "../held/held-store.ts";
import { createVerifier } from "../signature/signature.ts";
import type { Source } from "../source.ts";
import { eventOf, requirePayload } from "./delivered-event.ts";

/** The event of a held delivery, or why there is none. */
type Reverified = { event: NewEvent } | { refused: string };

/** The reason why a delivery stays held whose members were redacted: nothing can verify it any more. */
export const REDACTED_REASON = "redacted";

/** Verifies held deliveries with the present secrets of their source, each as of its receipt. */
export function createReverify(source: Source): (held: HeldDelivery) => Promise<Reverified> {
  const verifier = createVerifier(source);
  return async ({ method, origin, target: kept, headers: text, address, receivedAt, body }) => {
    const carriers = { headers: JSON.parse(text) as IncomingHttpHeaders, target: kept };
    const { headers, target } = withCredentials(source, carriers);
    const read = verifier.read(headers, receivedAt);
    if ("reason" in read) return { refused: read.reason };
    try {
      const coding = codingIn(headers["content-encoding"]) ?? null;
      const contentType = contentTypeOf(method, headers);
      const opened = await openBody(source, { bytes: Buffer.from(body), coding, contentType });
      const verified = verifier.verify({ method, origin, target, headers, content: opened.signed }, read.candidates);
      if (typeof verified === "string") return { refused: wasRedacted(body) ? REDACTED_REASON : verified };
      const content = await opened.content();
      requirePayload(source, content);
      if (isHandshake(source, content, headers)) return { refused: "handshake" };
      return { event: eventOf({ source, verified, headers, content, address, receivedAt }) };
    } catch (error) {
      if (error instanceof AppError) return { refused: error.code };
      throw error;
    }
  };
}
