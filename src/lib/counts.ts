/** Creates counts by name that are all 0. A count of 0 takes no memory. */
export function createCounts() {
  const counts = new Map<string, number>();
  const of = (name: string) => counts.get(name) ?? 0;
  return {
    of,
    add(name: string, number: number): void {
      const sum = of(name) + number;
      if (sum === 0) counts.delete(name);
      else counts.set(name, sum);
    },
  };
}
