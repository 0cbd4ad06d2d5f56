/**
 * Finds the lowest free number above 1, where no number above a free one is taken. It yields a number to ask whether
 * that is taken, and `next` brings the answer. It asks few times: about twice the logarithm of the result.
 */
export function* freeNumber(): Generator<number, number, boolean> {
  let [taken, free] = [1, 2];
  while (yield free) [taken, free] = [free, 2 * free];
  while (free - taken > 1) {
    const middle = Math.floor((taken + free) / 2);
    if (yield middle) taken = middle;
    else free = middle;
  }
  return free;
}

/** The id of an event whose own is taken by another one, and that is no duplicate of it. */
export const numbered = (eventId: string, number: number) => `${eventId}~${number}`;
