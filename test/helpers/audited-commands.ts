import type { AuditAction } from "../../src/audit/store.ts";

/** A run of a command that changes something. */
interface AuditedRun {
  action: AuditAction;
  /** What follows the words of the command. */
  args: readonly string[];
  input?: string;
  /** Whether no server may run. */
  isAlone?: true;
}

/** Each command that changes something, in an order in which they can run. */
export const AUDITED_COMMANDS: Record<string, readonly AuditedRun[]> = {
  "events replay": [{ action: "events.replay", args: ["evt_1"] }],
  "events discard": [{ action: "events.discard", args: ["evt_1", "--reason", "a test"] }],
  "events erase": [{ action: "events.erase", args: ["evt_1", "--reason", "a test"] }],
  "events prune": [{ action: "events.prune", args: [] }],
  "events reverify": [{ action: "held.reverify", args: ["--source", "shop"] }],
  "routes pause": [{ action: "route.pause", args: ["all"] }],
  "routes resume": [{ action: "route.resume", args: ["all"] }],
  "routes try": [{ action: "route.try", args: ["all"] }],
  "routes shadow": [{ action: "shadow.reset", args: ["copy", "--reset"] }],
  "sources list": [{ action: "source.secret", args: [] }],
  "sources capture": [{ action: "source.capture", args: ["shop", "--for", "1s"] }],
  "sources catch-up": [{ action: "source.catch_up", args: ["code"] }],
  "alerts silence": [
    { action: "alerts.silence", args: [] },
    { action: "alerts.unsilence", args: ["--off"] },
  ],
  "session revoke": [{ action: "session.revoke", args: [] }],
  "throttle clear": [{ action: "throttle.clear", args: [] }],
  "throttle forget-browsers": [{ action: "throttle.forget_browsers", args: [] }],
  "tokens create": [{ action: "token.create", args: ["ci", "--scope", "metrics"] }],
  "clients retry": [{ action: "clients.retry", args: [] }],
  "tokens revoke": [{ action: "token.revoke", args: ["ci"] }],
  "keys rotate": [{ action: "key.rotate", args: [] }],
  "factors add-totp": [{ action: "factor.add", args: ["--unconfirmed"] }],
  "factors recovery-codes": [{ action: "factor.recovery_codes", args: [] }],
  "factors remove": [{ action: "factor.remove", args: ["--all"] }],
  "people invite": [{ action: "person.invite", args: ["ben"] }],
  encrypt: [{ action: "store.encrypt", args: [] }],
  passwd: [
    { action: "person.password", args: ["ben"], input: "a new and better password" },
    { action: "password.change", args: [], input: "a new and better password" },
  ],
  restore: [{ action: "store.restore", args: ["backup"], isAlone: true }],
};

const READS = "it reads";
const PRINTS = "it prints what is in the program";
const SENDS = "it sends what anybody with the secret can send";

/** Why a command writes nothing to the audit. */
export const UNAUDITED_COMMANDS: Record<string, string> = {
  serve: "the server writes config.take",
  reload: "the server writes config.take",
  init: "there is no store yet",
  "hash-password": "it prints a hash. The server writes config.take when another one is used",
  listen: "it keeps its place on its own machine",
  migrate: "it fills an empty database, and compares both when it runs again",
  backup: READS,
  import: "there is no store yet",
  "events list": READS,
  "events show": READS,
  "events stats": READS,
  "events held": READS,
  "events held show": READS,
  "config check": READS,
  "config schema": PRINTS,
  "sources presets": PRINTS,
  "sources explain": READS,
  "routes list": READS,
  "routes test": READS,
  send: SENDS,
  "events send-test": SENDS,
  "alerts list": READS,
  "alerts test": "it sends test messages",
  "session show": READS,
  "people list": READS,
  "throttle show": READS,
  "token explain": READS,
  "access log": READS,
  "access explain": READS,
  "tokens list": READS,
  "keys list": READS,
  "factors list": READS,
  "clients list": READS,
  "clients presets": PRINTS,
  "clients explain": READS,
  "audit list": READS,
  "audit verify": READS,
  "selftest sessions": "it removes the sessions of its own test user",
  "selftest crash": "it has a server and a store of its own",
  outages: READS,
  ready: READS,
  "upgrade check": READS,
  nodes: READS,
  doctor: READS,
  version: READS,
  licenses: PRINTS,
  completion: PRINTS,
  docs: PRINTS,
  man: PRINTS,
};
