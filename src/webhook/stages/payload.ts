import { AppError } from "../../errors.ts";
import { isJson } from "../../lib/header-value.ts";
import { isObject, SHAPE_FAULTS } from "../../lib/json.ts";
import type { Content } from "../content/content.ts";
import { handshakeOf } from "../handshakes/kinds.ts";
import { isSigned } from "../signature/schemes.ts";
import { hasOtherCuts } from "../signature/signed-text.ts";
import { isDefault, type Source } from "../source.ts";

/**
 * Checks that a verified payload is what its media type and its source promise. Throws `invalid_payload`. What a
 * verified sender sends is kept, even if it is no JSON; only the source `default` is strict.
 */
export function requirePayload(
  {
    preset,
    schemes,
    contentTypes,
    isEnvelope,
    handshake,
  }: Pick<Source, "preset" | "schemes" | "contentTypes" | "isEnvelope" | "handshake">,
  content: Content,
): void {
  const signs = handshakeOf(handshake)?.signs;
  const challenge = signs?.challengeIn?.(content);
  if (challenge !== undefined) throw invalid(challenge, "must not be a challenge");
  // A source that takes any media type takes any bytes.
  if (contentTypes.includes("*/*")) return;
  const shape = content.unreadShape();
  if (shape !== null) throw invalid("", SHAPE_FAULTS[shape], shape);
  if (!isJson(content.mediaType)) return;
  const isStrict = isDefault({ preset, isEnvelope });
  const parsed = content.json();
  if (!parsed.ok && isStrict) throw invalid("", parsed.reason);
  const { value } = parsed.ok ? parsed : content.lenientJson();
  // Anybody can get a signature of a challenge from these sources, and a challenge may be a number or a word of JSON.
  // Of a signed text that can be cut elsewhere, one cut only has an object or an array. Broken JSON is
  // refused with them: a piece of a body may begin as JSON, too.
  const needsShape = (signs && !signs.challengeIn) || mayBeCut(schemes);
  if (needsShape && !isObject(value) && !Array.isArray(value)) throw invalid("", "must be an object or an array");
  if (isStrict && !isObject(value)) throw invalid("", "must be an object");
  if (isEnvelope && parsed.ok && isObject(value) && value.object === "event") requireEnvelope(value);
}

const cuts = new WeakMap<Source["schemes"], boolean>();

function mayBeCut(schemes: Source["schemes"]): boolean {
  const known = cuts.get(schemes) ?? hasOtherCuts(schemes.filter(isSigned));
  cuts.set(schemes, known);
  return known;
}

/**
 * Checks the envelope of a payload with `"object": "event"`. With `created_at` and no `created` it is OpenAI's
 * (https://platform.openai.com/docs/api-reference/webhook-events), otherwise Stripe's.
 */
function requireEnvelope(body: Record<string, unknown>): void {
  if (textOf(body.id) === undefined) throw invalid("id", "must be a non-empty string");
  if (textOf(body.type) === undefined) throw invalid("type", "must be a non-empty string");
  if (body.created_at !== undefined && body.created === undefined) {
    if (!Number.isSafeInteger(body.created_at)) throw invalid("created_at", "must be an integer");
    if (!isObject(body.data)) throw invalid("data", "must be an object");
    return;
  }
  if (!Number.isSafeInteger(body.created)) throw invalid("created", "must be an integer");
  if (!isObject(body.data) || !isObject(body.data.object)) throw invalid("data.object", "must be an object");
  if (typeof body.livemode !== "boolean") throw invalid("livemode", "must be a boolean");
}

/** A text that is not empty. */
export function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** The refusal of a member of a payload. */
export function invalid(path: string, message: string, reason = `${path || "the body"} ${message}`): AppError {
  return new AppError("invalid_payload", { errors: [{ path, message }], reason });
}
