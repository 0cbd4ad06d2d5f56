/** What is written of a change by a person or a program. */
export interface AuditEntry {
  /** Unix milliseconds. */
  at: number;
  /** `session:USER`, `token:NAME`, `invitation:PERSON`, `command:USER` of the system, or `server`. */
  who: string;
  /** The address of the client, or `machine`. */
  origin: string;
  action: AuditAction;
  /** A JSON object. */
  detail: string;
}

/** Writes a row of a change that is made now, and returns its number. */
export type WriteAudit = (change: Omit<AuditEntry, "at" | "detail"> & { detail: object }) => Promise<number>;

/** An entry in the chain. Numbers grow by one. */
export interface AuditRow extends AuditEntry {
  number: number;
  /** In hex: of this row and of the hash before it, see audit/chain.ts. */
  hash: string;
}

/** The number and the hash of a row. */
export interface AuditLink {
  number: number;
  hash: string;
}

/** The ends of the chain: its newest row, and the newest of the rows that were removed for their age. */
export interface AuditEnds {
  newest: AuditLink;
  /** Its time is null if it was not noted. */
  removed: AuditLink & { at: number | null };
}

/** Every action that is written, and what it means. */
export const AUDIT_ACTIONS = {
  "config.take": "A server took a configuration file, at its start or at a reload.",
  "events.replay": "Events were queued again.",
  "events.discard": "Events were given up.",
  "events.erase": "The contents of events were erased.",
  "events.prune": "What retention does not keep was removed.",
  "held.reverify": "Held deliveries were verified again, and admitted.",
  "held.remove": "Held deliveries were removed.",
  "route.pause": "A route was paused.",
  "route.resume": "The pause of a route was ended.",
  "route.try": "A probe of an unavailable target was asked for.",
  "shadow.reset": "The comparisons of a shadow were forgotten.",
  "source.catch_up": "A catch-up with a provider was begun.",
  "source.secret": "A received secret was shown.",
  "source.capture": "Requests to a source were written to files, with their credentials.",
  "alerts.silence": "Alerts were silenced.",
  "alerts.unsilence": "Silences were ended.",
  "session.revoke": "A session was ended.",
  "password.change": "The hash of the password in `.env` was changed by a command.",
  "throttle.clear": "Failed logins were forgotten.",
  "throttle.forget_browsers": "Browsers that have logged in count as any other.",
  "token.create": "A token for a program was made.",
  "token.revoke": "Tokens were revoked.",
  "clients.retry": "Apps are told again of ended sessions.",
  "key.rotate": "The next keys that sign tokens for apps were made.",
  "factor.add": "A second factor was added.",
  "factor.remove": "Second factors were removed.",
  "factor.counter_lost": "A passkey that several devices may have has no counter any more.",
  "factor.recovery_codes": "New recovery codes were made.",
  "person.invite": "A link for a first passkey or password was made.",
  "person.password": "The password of a person was set with such a link, or by `passwd NAME`.",
  "store.encrypt": "What is stored was encrypted with the first key.",
  "store.restore": "The database was replaced with a backup.",
} as const;

export type AuditAction = keyof typeof AUDIT_ACTIONS;

/**
 * Keeps the chain of changes. Servers that share a database add to one chain. Every method throws `store_unavailable`
 * if the store does not answer.
 */
export interface AuditStore {
  /** Adds a row behind the newest one, and removes some rows that are older than {@link AUDIT_KEPT_MS}. */
  append(entry: AuditEntry): Promise<AuditRow>;
  /** The newest rows before a number, newest first. */
  list(request: { before?: number | undefined; limit: number }): Promise<AuditRow[]>;
  /** The rows after a number, in order. */
  after(number: number, limit: number): Promise<AuditRow[]>;
  ends(): Promise<AuditEnds>;
}

/** How long rows are kept: two years. */
export const AUDIT_KEPT_MS = 2 * 365 * 86_400_000;

/** The most old rows that one append removes. */
export const MAX_REMOVED_ROWS = 20;
