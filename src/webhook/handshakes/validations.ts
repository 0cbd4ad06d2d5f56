import type { IncomingHttpHeaders } from "node:http";
import { mediaTypeIn } from "../../lib/header-value.ts";
import { isObject } from "../../lib/json.ts";
import { type Content, FORM } from "../intake/content.ts";
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
  /** The secret that it brings, which signs the deliveries from then on. */
  secret?(request: ChallengeRequest, content: Content | null): string;
}

const ASANA = "x-hook-secret";

/** The validations, by kind. */
export const VALIDATIONS: Partial<Record<HandshakeKind, Validation>> = {
  asana: {
    asks: ({ headers }) => headers[ASANA] !== undefined,
    answer: ({ headers }) => inHeader("X-Hook-Secret", requireChallenge(headers[ASANA], ASANA)),
    secret: ({ headers }) => String(headers[ASANA]),
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
  notion: {
    asks: ({ headers }) => mediaTypeOf(headers) === "application/json",
    body: { type: "application/json", isRight: (content) => TOKEN.test(tokenIn(content)) },
    answer: () => text(""),
    secret: (_request, content) => (content ? tokenIn(content) : ""),
  },
  slack: {
    asks: ({ headers }) => mediaTypeOf(headers) === FORM,
    body: { type: FORM, isRight: isSslCheck },
    answer: () => text(""),
  },
  woocommerce: {
    asks: ({ headers }) => mediaTypeOf(headers) === FORM,
    body: { type: FORM, isRight: ({ bytes }) => /^webhook_id=[0-9]{1,20}$/.test(bytes.toString("latin1")) },
    answer: () => text(""),
  },
};

function inHeader(name: string, challenge: string): Answer {
  const { headers, ...answer } = text("");
  return { ...answer, headers: { ...headers, [name]: challenge } };
}

/** Whether a form is Slack's check of the certificate, and has nothing else but a token. */
export function isSslCheck(content: Content): boolean {
  const names = [...content.form().keys()];
  return content.form().get("ssl_check") === "1" && names.every((name) => name === "ssl_check" || name === "token");
}

/** Whether a body is `{"test": true}`. */
function isTest(content: Content): boolean {
  const parsed = content.json();
  return parsed.ok && isObject(parsed.value) && JSON.stringify(parsed.value) === '{"test":true}';
}

// E.g. `secret_` and 43 letters and digits.
const TOKEN = /^[A-Za-z0-9_-]{16,256}$/;

/** Notion's token if a body has nothing else, else an empty text. */
function tokenIn(content: Content): string {
  const parsed = content.json();
  if (!parsed.ok || !isObject(parsed.value) || Object.keys(parsed.value).join() !== "verification_token") return "";
  const { verification_token: token } = parsed.value;
  return typeof token === "string" ? token : "";
}

function mediaTypeOf({ "content-type": type = "" }: IncomingHttpHeaders): string {
  return mediaTypeIn(type);
}
