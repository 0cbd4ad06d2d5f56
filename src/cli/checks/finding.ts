import { OperatorError } from "../../errors.ts";

/** What a check of `authserve doctor` found. */
export interface Finding {
  check: string;
  verdict: "ok" | "warning" | "wrong";
  found: string;
  /** What to do; null when nothing needs doing. */
  remedy: string | null;
}

export function ok(check: string, found: string): Finding {
  return { check, verdict: "ok", found, remedy: null };
}

export function warning(check: string, found: string, remedy: string): Finding {
  return { check, verdict: "warning", found, remedy };
}

/** What is wrong, of an error that the operator can mend; any other is thrown on. */
export function wrongBy(check: string, error: unknown): Finding {
  if (error instanceof OperatorError) return wrong(check, ...halves(error.message));
  throw error;
}

/** What is wrong and its remedy, of an {@link OperatorError}'s message. */
export function halves(message: string): [found: string, remedy: string] {
  const at = message.indexOf(": ");
  return at === -1 ? [message, ""] : [message.slice(0, at), message.slice(at + 2)];
}

export function wrong(check: string, found: string, remedy: string): Finding {
  return { check, verdict: "wrong", found, remedy };
}
