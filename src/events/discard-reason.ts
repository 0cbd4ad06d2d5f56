/** The longest reason of a discard, in characters. */
export const LONGEST_REASON = 1000;

/** The reason of a discard, without white space around it. Null if it is not usable. PostgreSQL stores no U+0000. */
export function discardReasonOf(text: string): string | null {
  const reason = text.trim();
  return reason === "" || text.length > LONGEST_REASON || reason.includes("\0") ? null : reason;
}
