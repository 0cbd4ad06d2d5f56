import * as v from "valibot";
import type { Notifier } from "../alerts/notifiers.ts";
import type { NotifierTest } from "../alerts/test-notifiers.ts";
import type { AuditAction } from "../audit/store.ts";
import type { Denial } from "../auth/access/denials.ts";
import type { Client } from "../auth/clients/client.ts";
import type { PlainScope } from "../auth/machine-tokens/scopes.ts";
import type { Person } from "../auth/people/people.ts";
import { AppError, type ErrorCode } from "../errors.ts";
import type { ArrivalWatch } from "../events/arrival-watch.ts";
import type { Retention } from "../events/retention.ts";
import { fieldErrorsOf } from "../http/body.ts";
import type { Log } from "../log.ts";
import type { Stores } from "../stores.ts";
import type { CatchUpResult } from "../webhook/catch-up/run.ts";
import type { RawRequest, SentTo } from "../webhook/held/raw-request.ts";
import type { Admission } from "../webhook/intake/admission.ts";
import type { RecentRefusal } from "../webhook/intake/refusals.ts";
import type { OutageKind } from "../webhook/outages/outage.ts";
import type { Source } from "../webhook/source.ts";
import type { Route } from "../worker/route.ts";
import type { ShadowRoute } from "../worker/shadow/shadows.ts";
import type { ExplanationAnswer } from "./explanation.ts";

// An operation is what a person or a program can do with what is stored: by the API, by a command on the machine of the
// server, or by a command on another one. Each is described once, and each way is made from that.

/** What is configured where an operation runs. */
export interface OperationConfiguration {
  /** Of a server. A command says what it does itself. */
  log: Log;
  /** The present configuration. In a command these throw `SettingsError` if it is not usable. */
  routes(): Promise<readonly Route[]>;
  shadows(): Promise<readonly ShadowRoute[]>;
  sources(): Promise<readonly Source[]>;
  clients(): Promise<readonly Client[]>;
  retention(): Promise<Retention>;
  /**
   * Begins a change of many. What it returns is called between two pages: it leaves the stores to others for a while,
   * and returns false once the change should be continued by another call.
   */
  pace(): () => Promise<boolean>;
  /** Sends a test message to each notifier of the configuration file. */
  testNotifiers(): Promise<NotifierTest[]>;
  /** Whether the breaker of this server lets a route through. A command knows only what servers have stored. */
  isAvailable(route: string): boolean;
  /** The kind of an outage that goes on, if there are no heartbeats any more. A server gives them, and has none. */
  ongoingOutage?: () => OutageKind;
}

/** Who an operation is done for. */
export interface Asking {
  /** The person whose session or token a request has; of a command on the machine that of the environment. */
  asker(): { id: string; email: string | null };
}

/** What operations use, in a server and in a command. */
export interface OperationContext extends OperationConfiguration, Asking {
  stores: Stores;
  /** Everybody who can log in, the person of the environment first. */
  people(): Promise<readonly Person[]>;
}

/** What operations use that only a running server can do. */
export interface ServerContext extends OperationContext {
  arrivals: ArrivalWatch;
  /** The newest refused deliveries, the newest first. */
  recentRefusals(): readonly RecentRefusal[];
  /** Tells which checks a captured request passes. Nothing is stored. */
  explain(source: Source, raw: RawRequest, arrival: CapturedArrival): Promise<v.InferInput<typeof ExplanationAnswer>>;
  /** Whether it has the documentation at `/docs/`. */
  hasManual: boolean;
  /** When it started, in ISO 8601. */
  startedAt: string;
  /** Why the newest configuration file is not in use; null if it is. */
  configFault(): string | null;
  /** The notifiers of the configuration file. */
  notifiers(): Pick<Notifier, "name" | "kind">[];
  admission: Pick<Admission, "pausedBy" | "freeBytes" | "minFreeBytes">;
  /** What forward-auth of this server has denied, the newest first. */
  denials: { list(): readonly Denial[] };
  /** Where the server is reached, without a final `/`: on this machine, and by senders. */
  addresses: { local: string; public: string };
  catchUps: {
    /** Begins a run. Returns false if one runs already. Throws if the source is not configured to catch up. */
    begin(source: string, options: { since?: number; isAll?: boolean }): boolean;
    isRunning(source: string): boolean;
    /** What the last run on this server has done; null before the first one. */
    lastResult(source: string): CatchUpResult | null;
  };
  /** Makes the checked lines of a source. Throws `validation_failed` if it cannot be one. */
  draftSource(source: NewSource): {
    lines: string[];
    needs: { is: string; variable: string }[];
    url: string;
    file: string;
    faults: string[];
  };
}

/** What operations use in a server and in a command, and these members where a server runs them. */
export type ContextWith<Member extends keyof ServerContext> = OperationContext & Partial<Pick<ServerContext, Member>>;

/** How a captured request came. */
interface CapturedArrival {
  now: number;
  address: string | undefined;
  sentTo: SentTo | undefined;
}

/** A source of a preset to add. */
interface NewSource {
  name: string;
  preset: string;
  path?: string | undefined;
  expectEvery?: string | undefined;
}

type InputSchema = v.ObjectSchema<v.ObjectEntries, undefined>;

/** The scope with which a token is enough, or `session` if no token is. */
export type Scope = Exclude<PlainScope, "verify" | "metrics"> | "session";

/** What the audit has of a change, without data of payloads. */
interface Audited<Input, Output> {
  action: AuditAction;
  /** What is asked for. Null if nothing is changed, as by a dry run. */
  asked(input: Input, asking: Asking): object | null;
  /** What has come of it. Null if nothing was changed. */
  outcome(output: Output): object | null;
}

/** The outcome of a change that is made or not. */
export const ifChanged = ({ changed }: { changed: boolean }) => (changed ? {} : null);

interface Described<Context, Input extends InputSchema, Output extends v.GenericSchema, Path extends string> {
  /** Below `/admin/api/`. */
  path: Path;
  scope: Scope;
  summary: string;
  input: Input;
  output: Output;
  /** Besides those of all operations. */
  problems?: ErrorCode[];
  run(context: Context, input: v.InferOutput<Input>): Promise<v.InferInput<Output>>;
}

/** An operation that only reads. The members of its input are texts, as in a query. */
interface Reading<Context, Input extends InputSchema, Output extends v.GenericSchema, Path extends string = string>
  extends Described<Context, Input, Output, Path> {
  kind: "reading";
}

/** An operation that changes something. */
interface Change<Context, Input extends InputSchema, Output extends v.GenericSchema, Path extends string = string>
  extends Described<Context, Input, Output, Path> {
  kind: "change";
  /** The most that the body of a request may have. */
  limitBytes?: number;
  /** Null if it only computes something. */
  audited: Audited<v.InferOutput<Input>, v.InferOutput<Output>> | null;
}

/** Any operation. */
export type Operation<Context = OperationContext> =
  | Reading<Context, InputSchema, v.GenericSchema>
  | Change<Context, InputSchema, v.GenericSchema>;

/** What an operation is given, as a request has it. Members without a value may be undefined. */
export type InputOf<One extends Operation<never>> = v.InferInput<One["input"]>;

/** What an operation answers with. */
export type OutputOf<One extends Operation<never>> = v.InferOutput<One["output"]>;

/** Reads the input of an operation. Throws `validation_failed`. */
export function readInput(one: Operation, given: object): Record<string, unknown> {
  const { success, output, issues } = v.safeParse(one.input, given);
  if (success) return output;
  throw new AppError("validation_failed", { errors: fieldErrorsOf(one.input, [], issues) });
}

/** Declares an operation that only reads. */
export const reading = <
  Input extends InputSchema,
  Output extends v.GenericSchema,
  Path extends string,
  Context = OperationContext,
>(
  one: Omit<Reading<Context, Input, Output, Path>, "kind">,
): Reading<Context, Input, Output, Path> => ({ kind: "reading", ...one });

/** Declares an operation that changes something. */
export const change = <
  Input extends InputSchema,
  Output extends v.GenericSchema,
  Path extends string,
  Context = OperationContext,
>(
  one: Omit<Change<Context, Input, Output, Path>, "kind">,
): Change<Context, Input, Output, Path> => ({ kind: "change", ...one });
