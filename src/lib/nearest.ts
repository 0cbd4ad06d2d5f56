/** The known name nearest to a mistyped one, at most two edits away. Undefined when none is near. */
export function nearest(text: string, known: readonly string[]): string | undefined {
  let best: { name: string; distance: number } | undefined;
  for (const name of known) {
    const most = Math.min(2, Math.max(1, Math.floor(name.length / 5)));
    if (Math.abs(text.length - name.length) > most) continue;
    const distance = editDistance(text, name, most);
    if (distance <= most && distance < (best?.distance ?? Number.POSITIVE_INFINITY)) best = { name, distance };
  }
  return best?.name;
}

/**
 * The edits between two texts, up to `most`: a character added, left out or replaced, or two neighbours swapped. Texts
 * that are further apart have a distance above `most`. So only as many cells beside the diagonal count.
 */
function editDistance(a: string, b: string, most: number): number {
  let before: number[] = [];
  let row = Array.from({ length: most + 1 }, (_, j) => j);
  const at = (line: readonly number[], j: number) => line[j] ?? Number.POSITIVE_INFINITY;
  for (let i = 0; i < a.length; i++) {
    const next: number[] = [];
    if (i < most) next[0] = i + 1;
    for (let j = Math.max(0, i - most); j < Math.min(b.length, i + most + 1); j++) {
      const replaced = at(row, j) + (a[i] === b[j] ? 0 : 1);
      const isSwapped = i > 0 && j > 0 && a[i] === b[j - 1] && a[i - 1] === b[j];
      const swapped = isSwapped ? at(before, j - 1) + 1 : replaced;
      next[j + 1] = Math.min(replaced, swapped, at(row, j + 1) + 1, at(next, j) + 1);
    }
    before = row;
    row = next;
  }
  return at(row, b.length);
}
