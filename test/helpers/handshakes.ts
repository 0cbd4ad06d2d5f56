import type { IncomingHttpHeaders } from "node:http";
import type { Content } from "../../src/webhook/content/content.ts";
import { requireAnswer } from "../../src/webhook/handshakes/kinds.ts";
import {
  type Answer,
  type ChallengeRequest,
  type HandshakeSettings,
  isThere,
  type Validation,
} from "../../src/webhook/provider/handshake.ts";
import { allProviders } from "../../src/webhook/providers/index.ts";
import type { Source } from "../../src/webhook/source.ts";

export type HandshakeKind = string;

type Asked = Omit<ChallengeRequest, "secret" | "token">;
type AnswerRequest = (request: Asked, source: Pick<Source, "secrets" | "handshake">) => Answer;
type AnswerDelivery = (
  content: Content,
  secret: string,
  headers: IncomingHttpHeaders,
  settings: HandshakeSettings,
) => Answer | null;
type AskedValidation = Omit<Validation, "answer"> & { answer(request: Asked, settings: HandshakeSettings): Answer };

const HANDSHAKES = allProviders().flatMap(([, { handshake }]) => handshake ?? []);

function requests(method: "get" | "head" | "options"): Record<HandshakeKind, AnswerRequest> {
  const found: Record<HandshakeKind, AnswerRequest> = {};
  for (const { kind, [method]: answer } of HANDSHAKES)
    if (answer)
      found[kind] = (request, { secrets, handshake }) =>
        requireAnswer(
          answer({ ...request, secret: secrets[0]?.value ?? "", token: handshake?.token?.value }),
          "validation_failed",
        );
  return found;
}

/** The answers of the providers to requests, by kind. */
export const GET_ANSWERS = requests("get");
export const HEAD_ANSWERS = requests("head");
export const OPTIONS_ANSWERS = requests("options");

/** Their answers to deliveries. */
export const DELIVERY_ANSWERS: Record<HandshakeKind, AnswerDelivery> = {};

/** Their validations. */
export const VALIDATIONS: Record<HandshakeKind, AskedValidation> = {};

for (const { kind, delivery, validation } of HANDSHAKES) {
  if (delivery)
    DELIVERY_ANSWERS[kind] = (content, secret, headers) => {
      const answer = delivery(content, { secret, headers });
      return answer && requireAnswer(answer, "invalid_payload");
    };
  if (validation) {
    const { answer = isThere } = validation;
    VALIDATIONS[kind] = {
      ...validation,
      answer: (request) => requireAnswer(answer({ ...request, secret: "" }), "validation_failed"),
    };
  }
}
