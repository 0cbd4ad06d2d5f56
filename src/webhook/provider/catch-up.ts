import type { IncomingHttpHeaders } from "node:http";

/** A request to the API of a provider: a POST if it has a body, unless it says otherwise. */
export interface ApiRequest {
  url: string;
  method?: "GET" | "POST" | "PATCH";
  headers?: Readonly<Record<string, string>>;
  body?: string;
  /** The least time since the last request that has this. */
  paceMs?: number;
}

/** A successful answer of an API. */
export interface ApiAnswer {
  headers: IncomingHttpHeaders;
  text: string;
  /** The content; undefined without any. Integers that JavaScript cannot hold are texts. Throws if it is no JSON. */
  readonly json: unknown;
}

/** Sends a request. Waits where the provider limits the rate. Throws without a 2xx answer. */
export type SendToApi = (request: ApiRequest) => Promise<ApiAnswer>;

/** Where an API is, and the credential for it. */
interface ApiAccess {
  /** Scheme and host of the API. No request goes elsewhere. */
  origin: string;
  /** The credential. It is never logged. */
  token: string;
  /** The id of the app whose key the token is; null if the token is one. */
  app: string | null;
}

/** What a source sets to catch up with its provider. */
export interface CatchUpSettings extends ApiAccess {
  /** The URL of the webhook in the provider's API; null if the provider needs none. */
  hook: string | null;
  /** How often it catches up; null: only by command. */
  everyMs: number | null;
  /** How far it looks back. */
  windowMs: number;
  /** Most events that are asked for in one run. */
  maxPerRun: number;
  /** Whether events from the API take the routes of the source. */
  routes: boolean;
}

/** An attempt to deliver an event, or an event, as a provider lists it. */
export interface ListedAttempt {
  /** The provider's name of the event: the same for all attempts to deliver it. */
  item: string;
  /** What the provider needs to repeat it. */
  id: string;
  /** When the attempt was made, or the event happened, in Unix milliseconds; null if the provider does not say. */
  at: number | null;
  /** `unknown` if the provider does not say. */
  outcome: "delivered" | "failed" | "pending" | "unknown";
  /** The id with which a delivery of it is stored; null if that is not known. */
  eventId: string | null;
  /** The provider has not kept what it would deliver. */
  isGone?: true;
}

/** A part of a provider's list, the newest first. */
interface ListedPage {
  listed: ListedAttempt[];
  /** The request for the next page; null on the last one. */
  next: ApiRequest | null;
}

/** An event as an API has it, which nobody signed. */
export interface CapturedEvent {
  eventId: string;
  type: string;
  contentType: string;
  payload: Uint8Array;
}

/** How the missed deliveries of one webhook are listed, and got. */
export interface CatchUpSession {
  /** The first page of what a provider has of a time (Unix milliseconds). `all`: also of what it has delivered. */
  firstPage(from: number, to: number, all?: boolean): ApiRequest;
  readPage(answer: ApiAnswer): ListedPage;
  /** Asks the provider to deliver again. Undefined if it cannot. */
  redeliver?(listed: ListedAttempt): ApiRequest;
  /** Asks the provider to deliver what it has not tried to deliver since a time (Unix milliseconds). */
  deliverUntried?(from: number): ApiRequest;
  /** Reads an event from the API, where the provider cannot deliver again. */
  capture?: {
    request(listed: ListedAttempt): ApiRequest;
    read(answer: ApiAnswer): CapturedEvent;
  };
}

/** How a source catches up with a provider. */
export interface CatchUpAdapter {
  /** The hosts of the provider's API. */
  hosts: readonly string[];
  /** The URL of a webhook in the API. */
  hook: { pattern: RegExp; example: string; isOptional?: true };
  /** What the credential is. */
  token: string;
  /** Its apps have a key, and a webhook. */
  hasApps?: true;
  /** What is wrong with a key of the settings, without its value; null if nothing is seen. */
  fault?(settings: Pick<CatchUpSettings, "hook" | "token" | "app">): { key: "token" | "app"; text: string } | null;
  /** For how long the provider keeps what it lists. */
  keepsMs: number;
  /** It cannot deliver again: what was missed is read from the API. */
  onlyLists?: true;
  /** It does not always list when its attempts were made. */
  hasNoTimes?: true;
  /** Refusals to deliver an event that hold for all events, and what to do. */
  stops?: readonly { reason: RegExp; remedy: string }[];
  /** The page that describes the API. */
  docs: string;
  open(settings: CatchUpSettings, send: SendToApi, now: () => number): Promise<CatchUpSession>;
}

/** A member of parsed JSON as text; null if it is none. */
export function textAt(value: unknown, name: string): string | null {
  const member = memberOf(value, name);
  return typeof member === "string" || typeof member === "number" ? String(member) : null;
}

/** A member of parsed JSON; undefined if there is none. */
export function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}

/** A list of parsed JSON. Throws if it is none. */
export function listOf(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  throw new Error("the answer has no list where one is expected");
}

/** A time of parsed JSON in Unix milliseconds; null if it is none. */
export function timeOf(text: string | null): number | null {
  const at = text === null ? Number.NaN : Date.parse(text);
  return Number.isNaN(at) ? null : at;
}

/** The URL of a `Link` header with this relation (RFC 8288); null if there is none. */
export function linkOf(header: string | string[] | undefined, relation: string): string | null {
  const links = [header ?? []].flat().join(", ");
  for (const [, url = "", parameters = ""] of links.matchAll(/<([^<>]*)>((?:\s*;\s*\w+="?[^",;]*"?)*)/g))
    if (new RegExp(`rel="?${relation}"?`).test(parameters)) return url;
  return null;
}
