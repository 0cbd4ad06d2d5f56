import type { IncomingHttpHeaders } from "node:http";
import { AppError } from "../../errors.ts";
import type { Content } from "../content/content.ts";
import { DESCRIBED } from "../provider/described-handshakes.ts";
import type { Answer, Handshake, HandshakeSettings, NoAnswer } from "../provider/handshake.ts";
import { providerOf } from "../providers/index.ts";
import type { Source } from "../source.ts";

// The kinds that logs and commands do not call by the name of the preset.
const PRESETS: Record<string, string> = { adobe: "adobe_io", event_grid: "azure_eventgrid", sns: "aws_sns" };

const known = new WeakMap<HandshakeSettings, Handshake>();

/** How a source answers the check of its URL: as it describes it, or as the provider of its kind asks. */
export function handshakeOf(settings: HandshakeSettings | null | undefined): Handshake | undefined {
  if (!settings) return undefined;
  const { kind } = settings;
  const handshake =
    known.get(settings) ??
    (isDescribed(kind) ? { kind, ...DESCRIBED[kind].of(settings) } : providerOf(PRESETS[kind] ?? kind)?.handshake);
  if (handshake) known.set(settings, handshake);
  return handshake;
}

const isDescribed = (kind: string): kind is keyof typeof DESCRIBED => Object.hasOwn(DESCRIBED, kind);

/** Whether a genuine delivery is a handshake of its source, and no event. Throws `invalid_payload`. */
export function isHandshake(
  { handshake }: Pick<Source, "handshake">,
  content: Content,
  headers: IncomingHttpHeaders,
): boolean {
  const found = handshakeOf(handshake)?.delivery?.(content, { secret: "", headers });
  if (found) requireAnswer(found, "invalid_payload");
  return Boolean(found);
}

/** Returns an answer. Throws the error of a refusal, whose code is `code` for a bad challenge. */
export function requireAnswer(found: Answer | NoAnswer, code: "validation_failed" | "invalid_payload"): Answer {
  if ("status" in found) return found;
  throw "path" in found ? new AppError(code, { errors: [found] }) : new AppError(found.code, found);
}
