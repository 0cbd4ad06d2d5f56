import { readFileSync } from "node:fs";
import { setDefaultAutoSelectFamilyAttemptTimeout } from "node:net";
import { isWellFormed } from "../auth/machine-tokens/form.ts";
import { describeError, type Fault, type FieldError, OperatorError, systemCode } from "../errors.ts";
import { isLoopback } from "../http/listen.ts";
import { ADDRESS_TIMEOUT_MS } from "../lib/outgoing.ts";
import { trustSystemAuthorities } from "../lib/system-authorities.ts";

/** The options of a command that may ask another machine. */
export interface RemoteOptions {
  // To leave one out would run the command on this machine.
  server: string | undefined;
  tokenFile: string | undefined;
}

/** The options of a command that only runs on this machine. */
export const HERE: RemoteOptions = { server: undefined, tokenFile: undefined };

type Query = Readonly<Record<string, string | number | undefined>>;

/** The API of a server on another machine. */
export interface RemoteServer {
  /** Reads an answer. */
  get<Answer>(path: string, query?: Query): Promise<Answer>;
  bytes(path: string, query?: Query): Promise<Uint8Array>;
  /** Changes something, and reads the answer. */
  post<Answer>(path: string, body: object): Promise<Answer>;
  /** Reads an answer that may take long. */
  text(path: string, query: Query, options: AskOptions): Promise<string>;
  /** Its address, without a slash at the end. */
  url: string;
}

interface AskOptions {
  timeoutMs?: number;
  signal?: AbortSignal;
}

const TIMEOUT_MS = 30_000;

const ADDRESS_REMEDY = "give the server's PUBLIC_URL, with its path if it has one, in --server";

const CERTIFICATE_REMEDY =
  "let the system trust its authority, or name the authority's file (PEM) in the environment as NODE_EXTRA_CA_CERTS";

// As in OpenSSL's X509_verify_cert_error_string, and Node's ERR_TLS_CERT_ALTNAME_INVALID.
const CERTIFICATE_FAULT = /^(?:UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|CERT_|INVALID_CA|ERR_TLS_CERT_)/;

const isCertificateFault = (error: unknown) => error instanceof Error && CERTIFICATE_FAULT.test(systemCode(error));

/** The server that the options name. Null if they name none. Throws {@link OperatorError} if they are not usable. */
export function remoteServer({ server, tokenFile }: RemoteOptions): RemoteServer | null {
  if (server === undefined && tokenFile === undefined) return null;
  if (server === undefined || tokenFile === undefined)
    throw new OperatorError({ found: "--server or --token-file is missing", remedy: "give both" });
  const url = URL.parse(server);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== "" || url.search !== "")
    throw new OperatorError({ found: "--server is not usable", remedy: "give a URL, e.g. https://auth.example.com" });
  if (url.protocol === "http:" && !isLoopback(url.hostname))
    throw new OperatorError({ found: "--server has no TLS, and would show the token", remedy: "give an https URL" });
  if (url.protocol === "https:") trustSystemAuthorities();
  setDefaultAutoSelectFamilyAttemptTimeout(ADDRESS_TIMEOUT_MS);
  const headers = { Authorization: `Bearer ${readToken(tokenFile)}` };
  const { origin } = url;
  const address = url.href.replace(/\/$/, "");

  function noAnswer(error: unknown): OperatorError {
    const { cause } = error as Error;
    if (!isCertificateFault(cause)) return new NoAnswerError(`${origin} does not answer (${describeError(error)})`);
    const found = `the certificate of ${origin} is not trusted (${describeError(cause)})`;
    return new OperatorError({ found, remedy: CERTIFICATE_REMEDY }, 1);
  }

  async function jsonOf<Answer>(response: Response): Promise<Answer> {
    const text = await response.text().catch((error: unknown) => {
      throw noAnswer(error);
    });
    try {
      return JSON.parse(text) as Answer;
    } catch {
      throw new OperatorError(
        { found: `${address} is not an authserve: its answer is not JSON`, remedy: ADDRESS_REMEDY },
        1,
      );
    }
  }

  function ask(path: string, query: Query = {}, options: AskOptions = {}): Promise<Response> {
    const given = Object.entries(query).filter(([, value]) => value !== undefined);
    const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
    return send(`${path}${search && `?${search}`}`, { headers }, options);
  }

  async function send(target: string, request: RequestInit, options: AskOptions = {}): Promise<Response> {
    const { timeoutMs = TIMEOUT_MS, signal: ending } = options;
    const timeout = AbortSignal.timeout(timeoutMs);
    const signal = ending === undefined ? timeout : AbortSignal.any([ending, timeout]);
    let response: Response;
    try {
      // A redirect could lead the token elsewhere.
      response = await fetch(`${address}/admin/api/${target}`, { ...request, redirect: "error", signal });
    } catch (error) {
      throw noAnswer(error);
    }
    if (!response.ok) throw await refusal(response);
    return response;
  }

  return {
    get: async <Answer>(path: string, query?: Query) => jsonOf<Answer>(await ask(path, query)),
    bytes: async (path, query) => new Uint8Array(await (await ask(path, query)).arrayBuffer()),
    async post<Answer>(path: string, body: object) {
      const request = { ...headers, "Content-Type": "application/json" };
      return jsonOf<Answer>(await send(path, { method: "POST", headers: request, body: JSON.stringify(body) }));
    },
    async text(path, query, options) {
      const response = await ask(path, query, options);
      return response.text().catch((error: unknown) => {
        throw noAnswer(error);
      });
    },
    url: address,
  };
}

function readToken(file: string): string {
  let token: string;
  try {
    token = readFileSync(file, "utf8").trim();
  } catch (error) {
    const found = `${file} cannot be read (${systemCode(error)})`;
    throw new OperatorError({ found, remedy: "name a readable file in --token-file" });
  }
  if (isWellFormed(token)) return token;
  throw new OperatorError({ found: `${file} has no token`, remedy: "write one of authserve tokens create into it" });
}

/** Why the server has refused a request. */
async function refusal(response: Response): Promise<OperatorError> {
  const problem = (await response.json().catch(() => ({}))) as {
    code?: string;
    detail?: string;
    errors?: FieldError[];
  };
  const { code = String(response.status), detail = "" } = problem;
  if (code === "invalid_token" || code === "missing_token")
    return new OperatorError({ found: "The server refuses the token", remedy: "see authserve tokens list there" }, 1);
  if (code === "insufficient_scope") {
    const scope = /scope="([^"]+)"/.exec(response.headers.get("www-authenticate") ?? "")?.[1];
    const remedy = scope === undefined ? "use a command there" : `create one with --scope ${scope} there`;
    return new OperationProblem(
      { code, status: response.status },
      { found: "The token lacks the scope for this", remedy },
    );
  }
  const [first] = problem.errors ?? [];
  const found = `The server answered ${code}${first ? `: ${first.path} ${first.message}` : detail && `: ${detail}`}`;
  return new OperationProblem(
    { code, status: response.status },
    response.status === 404 ? { found, remedy: ADDRESS_REMEDY } : found,
    first ?? null,
  );
}

/** There was no answer, or only a part of one. */
export class NoAnswerError extends OperatorError {
  constructor(found: string) {
    super({ found, remedy: "check --server and the network" }, 1);
  }
}

/** What an operation, here or on a server, has answered with instead. */
export class OperationProblem extends OperatorError {
  readonly code: string;
  readonly status: number;
  /** What is wrong with a member of the input. Null if nothing is. */
  readonly field: FieldError | null;

  constructor(
    { code, status }: { code: string; status: number },
    problem: string | Fault,
    field: FieldError | null = null,
  ) {
    super(problem, 1);
    this.code = code;
    this.status = status;
    this.field = field;
  }
}
