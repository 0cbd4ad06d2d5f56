/**
 * Letters that differ in case only are equal. Both steps, because "Σ" has two small letters and "ẞ" no other large one.
 */
const folded = (text: string) => text.normalize("NFC").toLowerCase().toUpperCase();

/** Whether an error contains a text. The case of all letters is ignored. */
export function matchesError(error: string | null, part: string): boolean {
  return error !== null && folded(error).includes(folded(part));
}
