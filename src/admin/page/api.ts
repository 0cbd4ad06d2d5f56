import { signal } from "@preact/signals";
import type { Answer, Body, Changes, Outcome, QueryOf, Readings } from "./answers.ts";

/** Why the session of this page is over; null while it lives. */
export const sessionEnd = signal<"over" | "revoked" | null>(null);

/** Why a request failed. `code` is that of the API, or `network`, `timeout` or `not_json`. */
export class ApiError extends Error {
  readonly code: string;
  readonly requestId: string | null;
  /** What is wrong with what was sent. */
  readonly faults: readonly Fault[];
  constructor(code: string, { detail = "", requestId = null, faults = [] }: Facts = {}) {
    super(detail);
    this.code = code;
    this.requestId = requestId;
    this.faults = faults;
  }
}

interface Facts {
  detail?: string;
  requestId?: string | null;
  faults?: readonly Fault[];
}

/** The path of a member, and what it must be. */
interface Fault {
  path: string;
  message: string;
}

type Query = Record<string, string | number | undefined>;

const TIMEOUT_MS = 60_000;

/** The address of an endpoint, relative to the page: a proxy may have removed a part of the path. */
export function apiUrl(path: string, query: Query = {}): string {
  const url = new URL(`api/${path}`, document.baseURI);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== "") url.searchParams.set(name, String(value));
  }
  return url.href;
}

/** Reads from the API. Throws {@link ApiError}, or `AbortError` if `signal` aborts. */
export function get<Path extends keyof Readings>(
  path: Path,
  query: QueryOf<Path> & Query,
  signal?: AbortSignal,
): Promise<Answer<Path>> {
  return send(apiUrl(path, query), { signal: withTimeout(signal) });
}

/** Sends JSON to the API. Throws as {@link get} does. */
export function post<Path extends keyof Changes>(
  path: Path,
  body: Body<Path>,
  signal?: AbortSignal,
): Promise<Outcome<Path>> {
  return send(apiUrl(path), {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
    signal: withTimeout(signal),
  });
}

function withTimeout(signal: AbortSignal | undefined): AbortSignal {
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  return signal ? AbortSignal.any([signal, timeout]) : timeout;
}

async function send<T>(url: string, init: RequestInit): Promise<T> {
  try {
    const response = await fetch(url, { cache: "no-store", ...init });
    const body: unknown = await response.json().catch((error: unknown) => {
      if (isAbort(error)) throw error;
      return null;
    });
    if (!response.ok) throw problemOf(response.status, body);
    if (body === null) throw new ApiError("not_json");
    return body as T;
  } catch (error) {
    throw asApiError(error);
  }
}

/** Whether a request was given up by the page itself. */
export const isAbort = (error: unknown) => error instanceof DOMException && error.name === "AbortError";

function asApiError(error: unknown): unknown {
  if (error instanceof ApiError || isAbort(error)) return error;
  return new ApiError(error instanceof DOMException ? "timeout" : "network");
}

interface Problem {
  code?: string;
  detail?: string;
  requestId?: string;
  errors?: Fault[];
}

function problemOf(status: number, body: unknown): ApiError {
  const { code, detail = "", requestId = null, errors: faults = [] } = (body ?? {}) as Problem;
  if (status === 401) sessionEnd.value ??= "over";
  return new ApiError(code ?? `http_${status}`, { detail, requestId, faults });
}
