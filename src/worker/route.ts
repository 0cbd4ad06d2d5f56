import type { RouteCondition } from "./conditions.ts";
import type { RetryPolicy } from "./decide.ts";

/** Takes events to a handler. Event × route is a job. */
export interface Route {
  name: string;
  /** The sources whose events it takes; null: all. */
  sources: readonly string[] | null;
  /** Globs of types, with `!` for types that it does not take. Empty: all. */
  types: readonly string[];
  /** Conditions that must all hold. */
  when: readonly RouteCondition[];
  /** An expression of jsonata whose result is sent instead of the payload; null: the payload is sent. */
  transform: string | null;
  /** The first attempt is not before the receipt and this time. */
  delayMs: number;
  /** The path of the ordering key in the payload; null: jobs run in any order. */
  orderBy: string | null;
  /** Whether a dead letter keeps the later jobs of its ordering key waiting. */
  whenStuck: "block" | "skip";
  handler: HandlerConfig;
  /** Longest time of one attempt. */
  timeoutMs: number;
  retry: RetryPolicy;
  /** Attempts at once. */
  concurrency: number;
  /** Attempts that may begin per second; null: any number. */
  ratePerSecond: number | null;
}

/** How events are sent to a URL. */
export interface HttpTarget {
  kind: "http";
  url: string;
  /** Signs the requests. */
  key: Uint8Array | null;
  /** Default: POST. */
  method?: HttpMethod;
  /** Headers besides those that every request has. Their values may be secrets. */
  headers?: Readonly<Record<string, string>>;
  /** The form of the request. Default: the body as it is. */
  body?: BodyForm;
  /** Sends what a sender would send, instead of our own headers and signature. */
  signWith?: SenderSecret;
  tls?: TargetTls;
}

/** Authorities that are trusted instead of all others, and a certificate of our own with its key, in PEM. */
export interface TargetTls {
  ca?: string;
  cert?: string;
  key?: string;
}

/** Signs as the sender of a preset does. The secret is a private key in PEM if the sender has a key pair. */
export interface SenderSecret {
  preset: string;
  secret: string;
}

/** The body as it is, or an event of CloudEvents 1.0, in the body or with its attributes in headers. */
export const BODY_FORMS = ["raw", "cloudevents-structured", "cloudevents-binary"] as const;
type BodyForm = (typeof BODY_FORMS)[number];

/** The methods of requests. GET and DELETE send no body. */
export const HTTP_METHODS = ["POST", "PUT", "PATCH", "GET", "DELETE"] as const;
type HttpMethod = (typeof HTTP_METHODS)[number];

/** What processes the events of a route. */
export type HandlerConfig =
  | HttpTarget
  | { kind: "exec"; command: readonly [string, ...string[]] /** The working directory. */; folder: string }
  | { kind: "module" /** An absolute path. */; file: string }
  | { kind: "log" };

/** What a handler sends events to, as text. */
export function targetOf(handler: HandlerConfig): string | null {
  switch (handler.kind) {
    case "http":
      return handler.url;
    case "exec":
      return handler.command.join(" ");
    case "module":
      return handler.file;
    case "log":
      return null;
  }
}
