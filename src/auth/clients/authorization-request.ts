import { nearest } from "../../lib/nearest.ts";
import { printable } from "../../lib/printable.ts";
import { type Client, SCOPES } from "./client.ts";
import { parameterFault, readParameters, type SentParameters } from "./parameters.ts";
import { isChallenge } from "./pkce.ts";
import { matchesRedirect, nearestRedirect } from "./redirects.ts";

const PARAMETERS = [
  "client_id",
  "redirect_uri",
  "response_type",
  "response_mode",
  "scope",
  "state",
  "nonce",
  "code_challenge",
  "code_challenge_method",
  "prompt",
  "max_age",
  "login_hint",
  "id_token_hint",
  "request",
  "request_uri",
  "registration",
] as const;

type ParameterName = (typeof PARAMETERS)[number];

/** Reads an authorization request from the query of a GET without its `?`, or from the body of a POST. */
export const readAuthorization = (text: string) => readParameters(text, PARAMETERS);

const PROMPTS = ["none", "login", "consent", "select_account"] as const;

/** What an app may ask to show, or not to show (OpenID Connect Core, 3.1.2.1). */
type Prompt = (typeof PROMPTS)[number];

/** An authorization request that passed every check. */
export interface AuthorizationRequest {
  client: Client;
  redirectUri: string;
  /** The granted scopes in the order of {@link SCOPES}, separated by spaces. */
  scope: string;
  state: string | null;
  nonce: string | null;
  /** The S256 challenge of PKCE. Only a client with a secret may have none. */
  challenge: string | null;
  prompt: ReadonlySet<Prompt>;
  /** How old the login may be; null: any age. 0 means a new login. */
  maxAgeSeconds: number | null;
  loginHint: string | null;
  idTokenHint: string | null;
}

/** The checks, in the order in which they are made. The names are stable. */
type AuthorizationCheckName =
  | "size"
  | "client_id"
  | "redirect_uri"
  | "parameters"
  | "request_object"
  | "response_type"
  | "response_mode"
  | "scope"
  | "pkce"
  | "prompt"
  | "max_age";

/** The errors that an app is answered with before anybody logs in (RFC 6749, 4.1.2.1; OpenID Connect Core, 3.1.2.6). */
type AuthorizationErrorCode =
  | "invalid_request"
  | "unsupported_response_type"
  | "invalid_scope"
  | "request_not_supported"
  | "request_uri_not_supported"
  | "registration_not_supported";

/** What is to be done with an authorization request. */
export type JudgedAuthorization =
  /** Answered with a page: nobody knows whose address the redirect URI is. `reason` echoes values, made printable. */
  | { to: "refuse-here"; check: AuthorizationCheckName; reason: string }
  /** Led back to the app. `description` is fit for `error_description`, and echoes no value. */
  | {
      to: "redirect-error";
      redirectUri: string;
      state: string | null;
      error: AuthorizationErrorCode;
      description: string;
      check: AuthorizationCheckName;
    }
  | { to: "ok"; request: AuthorizationRequest };

/** Why a check failed. */
interface Fault {
  error: AuthorizationErrorCode;
  /** What was expected, and the remedy. It is for everybody, and echoes no value. */
  expected: string;
  /** What only the operator may know. */
  hint?: string;
}

/** The result of a check. `found` echoes values, made printable. */
interface Finding {
  check: AuthorizationCheckName;
  found: string;
  fault: Fault | null;
}

type Judgement = [found: string, fault?: Fault];

type Values = ReadonlyMap<string, string>;

const MAX_QUOTED = 200;

function quoted(text: string): string {
  return printable(JSON.stringify(text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}…` : text));
}

const invalid = (expected: string, hint?: string): Fault => ({
  error: "invalid_request",
  expected,
  ...(hint !== undefined && { hint }),
});

function sentText(values: Values, name: ParameterName): string {
  const value = values.get(name);
  return value === undefined ? `${name} is missing` : `${name} is ${quoted(value)}`;
}

/** Judges whether all of the parameters, or the one with this name, can be used. */
function judgeForm(sent: SentParameters, name?: ParameterName): Judgement {
  const fault = parameterFault(sent, name);
  return fault === null ? ["every parameter is there at most once"] : [fault.found, invalid(fault.expected)];
}

function judgeClient(sent: SentParameters, clients: readonly Client[]): Judgement {
  if (sent.faults.has("client_id")) return judgeForm(sent, "client_id");
  const id = sent.values.get("client_id");
  const names = clients.map(({ name }) => name);
  const found = sentText(sent.values, "client_id");
  if (id !== undefined && names.includes(id)) return [found];
  const near = id === undefined ? undefined : nearest(id, names);
  return [
    found,
    invalid(
      "expected the name of a client in the configuration file; set the client id in the app to it",
      near === undefined ? `known: ${names.join(", ")}` : `did you mean ${near}?`,
    ),
  ];
}

function judgeRedirect(sent: SentParameters, { redirects }: Client): Judgement {
  if (sent.faults.has("redirect_uri")) return judgeForm(sent, "redirect_uri");
  const uri = sent.values.get("redirect_uri");
  const found = sentText(sent.values, "redirect_uri");
  if (uri !== undefined && matchesRedirect(redirects, uri)) return [found];
  const near = nearestRedirect(redirects, uri ?? "");
  return [
    found,
    invalid(
      "expected one of the client's redirects, character for character; add it there if it is the app's own address",
      near === null
        ? "the client has none"
        : `the nearest is ${quoted(near.registered)}${uri === undefined ? "" : `, which differs in: ${near.difference}`}`,
    ),
  ];
}

const UNSUPPORTED = {
  request: "request_not_supported",
  request_uri: "request_uri_not_supported",
  registration: "registration_not_supported",
} as const;

function judgeRequestObject(values: Values): Judgement {
  for (const name of ["request", "request_uri", "registration"] as const)
    if (values.has(name)) {
      const expected = `expected plain parameters without ${name}; switch request objects off in the app`;
      return [`${name} is there`, { error: UNSUPPORTED[name], expected }];
    }
  return ["no request object is there"];
}

function judgeResponseType(values: Values): Judgement {
  const found = sentText(values, "response_type");
  const type = values.get("response_type");
  if (type === "code") return [found];
  const error = type === undefined ? "invalid_request" : "unsupported_response_type";
  return [found, { error, expected: "expected response_type=code; choose the authorization code flow in the app" }];
}

function judgeResponseMode(values: Values): Judgement {
  const found = sentText(values, "response_mode");
  if ((values.get("response_mode") ?? "query") === "query") return [found];
  return [found, invalid("expected response_mode=query or none; remove the response mode in the app")];
}

/** The words of a parameter that has several, such as `scope`. */
export const wordsOf = (text: string | undefined) => (text ?? "").split(" ").filter((word) => word !== "");

/** The known scopes. `offline_access` is granted as asked, since apps ask for it without `prompt=consent`. */
function scopesOf(values: Values): readonly string[] {
  const asked = new Set(wordsOf(values.get("scope")));
  return SCOPES.filter((scope) => asked.has(scope));
}

function judgeScope(values: Values): Judgement {
  const found = sentText(values, "scope");
  if (scopesOf(values).includes("openid")) return [found];
  return [found, { error: "invalid_scope", expected: "expected the scope openid; add it to the scopes in the app" }];
}

function judgePkce(values: Values, { secret }: Client): Judgement {
  const challenge = values.get("code_challenge");
  const method = values.get("code_challenge_method");
  if (challenge === undefined && method === undefined) {
    const found = "code_challenge is missing";
    if (secret !== null) return [`${found}, which a client with a secret may do without`];
    return [found, invalid("expected PKCE with S256, since the client is public; switch PKCE on in the app")];
  }
  // RFC 7636, 4.3: without a method it is `plain`, which whoever reads the request can answer.
  if (method !== "S256")
    return [
      sentText(values, "code_challenge_method"),
      invalid("expected code_challenge_method=S256; choose S256 for PKCE in the app"),
    ];
  if (challenge === undefined || !isChallenge(challenge))
    return [
      sentText(values, "code_challenge"),
      invalid("expected a code_challenge of 43 base64url characters: the SHA-256 of the code_verifier"),
    ];
  return ["code_challenge has the form of S256"];
}

const promptsOf = (values: Values) => new Set(wordsOf(values.get("prompt")));

function judgePrompt(values: Values): Judgement {
  const found = sentText(values, "prompt");
  const asked = promptsOf(values);
  if ([...asked].some((one) => !(PROMPTS as readonly string[]).includes(one)))
    return [found, invalid("expected a prompt of none, login, consent or select_account; correct it in the app")];
  if (asked.has("none") && asked.size > 1)
    return [found, invalid("expected prompt=none without others; remove one of them in the app")];
  return [found];
}

function judgeMaxAge(values: Values): Judgement {
  const found = sentText(values, "max_age");
  if (/^\d{1,10}$/.test(values.get("max_age") ?? "0")) return [found];
  return [
    found,
    invalid("expected max_age in whole seconds, 0 or more, with at most 10 digits; correct it in the app"),
  ];
}

/** The checks of a request of a known client, after that of its redirect URI. */
const CHECKS: readonly [AuthorizationCheckName, (sent: SentParameters, client: Client) => Judgement][] = [
  ["parameters", (sent) => judgeForm(sent)],
  ["request_object", ({ values }) => judgeRequestObject(values)],
  ["response_type", ({ values }) => judgeResponseType(values)],
  ["response_mode", ({ values }) => judgeResponseMode(values)],
  ["scope", ({ values }) => judgeScope(values)],
  ["pkce", ({ values }, client) => judgePkce(values, client)],
  ["prompt", ({ values }) => judgePrompt(values)],
  ["max_age", ({ values }) => judgeMaxAge(values)],
];

const clientOf = ({ values }: SentParameters, clients: readonly Client[]) =>
  clients.find(({ name }) => name === values.get("client_id"));

/** Makes the checks one by one. Without a client no other check has a meaning. */
function* findingsOf(sent: SentParameters, clients: readonly Client[]): Generator<Finding> {
  const finding = (check: AuthorizationCheckName, [found, fault]: Judgement) => ({
    check,
    found,
    fault: fault ?? null,
  });
  if (sent.isTooLarge) return yield finding("size", judgeForm(sent));
  yield finding("client_id", judgeClient(sent, clients));
  const client = clientOf(sent, clients);
  if (client === undefined) return;
  yield finding("redirect_uri", judgeRedirect(sent, client));
  for (const [check, judge] of CHECKS) yield finding(check, judge(sent, client));
}

const REFUSED_HERE: readonly AuthorizationCheckName[] = ["size", "client_id", "redirect_uri"];

/** Judges an authorization request. The first check that fails decides. */
export function judgeAuthorization(sent: SentParameters, clients: readonly Client[]): JudgedAuthorization {
  const { values } = sent;
  for (const { check, found, fault } of findingsOf(sent, clients)) {
    if (fault === null) continue;
    const { error, expected } = fault;
    if (REFUSED_HERE.includes(check)) return { to: "refuse-here", check, reason: `${found}: ${expected}` };
    const state = values.get("state") ?? null;
    const description = check === "parameters" ? `${found}: ${expected}` : expected;
    return {
      to: "redirect-error",
      redirectUri: values.get("redirect_uri") as string,
      state,
      error,
      description,
      check,
    };
  }
  const maxAge = values.get("max_age");
  return {
    to: "ok",
    request: {
      client: clientOf(sent, clients) as Client,
      redirectUri: values.get("redirect_uri") as string,
      scope: scopesOf(values).join(" "),
      state: values.get("state") ?? null,
      nonce: values.get("nonce") ?? null,
      challenge: values.get("code_challenge") ?? null,
      prompt: promptsOf(values) as ReadonlySet<Prompt>,
      maxAgeSeconds: maxAge === undefined ? null : Number(maxAge),
      loginHint: values.get("login_hint") ?? null,
      idTokenHint: values.get("id_token_hint") ?? null,
    },
  };
}

/** A check of an authorization request, for the operator. */
interface AuthorizationCheck {
  check: AuthorizationCheckName;
  ok: boolean;
  /** What was found, what was expected, and the remedy, in one sentence. */
  detail: string;
}

/** Reports every check of an authorization request. After an unknown client there are none. */
export function explainAuthorization(sent: SentParameters, clients: readonly Client[]): AuthorizationCheck[] {
  return [...findingsOf(sent, clients)].map(({ check, found, fault }) => ({
    check,
    ok: fault === null,
    detail: fault === null ? found : `${found}: ${fault.expected}${fault.hint ? `; ${fault.hint}` : ""}`,
  }));
}
