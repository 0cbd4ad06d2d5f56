interface Refusal {
  /** How long the target asks to wait before the next try. */
  retryAfterMs?: number | undefined;
}

/** A notifier did not take a message. The text is for people. */
export class NotifierError extends Error {
  readonly retryAfterMs: number;

  constructor(text: string, { retryAfterMs = 0 }: Refusal = {}) {
    super(text);
    this.retryAfterMs = retryAfterMs;
  }
}
