import type { IncomingHttpHeaders } from "node:http";
import { isObject } from "../../lib/strict-json.ts";
import { type Content, FORM } from "../content.ts";
import type { Handshake } from "../source.ts";
import { type Answer, PRINTABLE, requireChallenge, text } from "./answer.ts";
import type { HandshakeKind } from "./kind.ts";
import type { ChallengeRequest } from "./requests.ts";

/** A POST without a signature by which a provider checks the URL. It is never an event. */
export interface Validation {
  /** Whether a request looks like one. */
  asks(request: Pick<ChallengeRequest, "query" | "headers">, handshake: Handshake): boolean;
  /** The media type and the body that it must have. Undefined: any. */
  body?: { type: string; isRight(content: Content): boolean };
  answer(request: ChallengeRequest, handshake: Handshake): Answer;
}

const ASANA = "x-hook-secret";

/** The validations, by kind. */
export const VALIDATIONS: Partial<Record<HandshakeKind, Validation>> = {
  asana: {
    asks: ({ headers }) => headers[ASANA] !== undefined,
    answer: ({ headers }) => inHeader("X-Hook-Secret", requireChallenge(headers[ASANA], ASANA)),
  },
  "echo-header": {
    asks: ({ headers }, { name = "" }) => headers[name] !== undefined,
    answer: ({ headers }, { name = "", as = name }) => inHeader(as, requireChallenge(headers[name], name)),
  },
  bitbucket: {
    asks: ({ headers }) => headers["x-event-key"] === "diagnostics:ping",
    body: { type: "application/json", isRight: isTest },
    answer: () => text(""),
  },
  ms_graph: {
    asks: ({ query }) => query.has("validationToken"),
    answer: ({ query }) => text(requireChallenge(query.get("validationToken"), "validationToken", { form: PRINTABLE })),
  },
  woocommerce: {
    asks: ({ headers }) => isForm(headers),
    body: { type: FORM, isRight: ({ bytes }) => /^webhook_id=[0-9]{1,20}$/.test(bytes.toString("latin1")) },
    answer: () => text(""),
  },
};

function inHeader(name: string, challenge: string): Answer {
  const { headers, ...answer } = text("");
  return { ...answer, headers: { ...headers, [name]: challenge } };
}

/** Whether a body is `{"test": true}`. */
function isTest(content: Content): boolean {
  const parsed = content.json();
  return parsed.ok && isObject(parsed.value) && JSON.stringify(parsed.value) === '{"test":true}';
}

function isForm({ "content-type": type = "" }: IncomingHttpHeaders): boolean {
  return type.replace(/[ \t]*;.*$/s, "").toLowerCase() === FORM;
}
