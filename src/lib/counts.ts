/** Counts by name. A count of 0 takes no memory. */
interface Counts {
  of(name: string): number;
  add(name: string, number: number): void;
}

/** Creates counts that are all 0. */
export function createCounts(): Counts {
  const counts = new Map<string, number>();
  const of = (name: string) => counts.get(name) ?? 0;
  return {
    of,
    add(name, number) {
      const sum = of(name) + number;
      if (sum === 0) counts.delete(name);
      else counts.set(name, sum);
    },
  };
}
