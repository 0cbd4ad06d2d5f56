interface Refusal {
  /** How long the target asks to wait before the next try. */
  retryAfterMs?: number | undefined;
  /** Another try would only repeat what has arrived elsewhere. */
  isFinal?: boolean;
}

/** A notifier did not take a message. The text is for people. */
export class NotifierError extends Error {
  readonly retryAfterMs: number;
  readonly isFinal: boolean;

  constructor(text: string, { retryAfterMs = 0, isFinal = false }: Refusal = {}) {
    super(text);
    this.retryAfterMs = retryAfterMs;
    this.isFinal = isFinal;
  }
}
