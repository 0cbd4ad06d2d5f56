/** Who asks for transformations: a route, for the events of a source. */
export interface Asker {
  source: string;
  route: string;
}

/**
 * Decides who is next, so that no source waits for the many of another, and no route of a source for another route.
 */
export function createTurns<T>() {
  /** By source and by route, those first that wait the longest for their turn. */
  const waiting = new Map<string, Map<string, T[]>>();

  return {
    add({ source, route }: Asker, item: T): void {
      const routes = waiting.get(source) ?? new Map<string, T[]>();
      const items = routes.get(route) ?? [];
      items.push(item);
      waiting.set(source, routes.set(route, items));
    },
    /** Takes the next one: of the source, and then of the route, that has the fewest running and waits the longest. */
    next(running: readonly Asker[]): T | undefined {
      const source = withFewest(
        waiting.keys(),
        running.map((asker) => asker.source),
      );
      const routes = source === undefined ? undefined : waiting.get(source);
      if (source === undefined || routes === undefined) return undefined;
      const ofSource = running.filter((asker) => asker.source === source);
      const route = withFewest(
        routes.keys(),
        ofSource.map((asker) => asker.route),
      );
      const items = route === undefined ? undefined : routes.get(route);
      if (route === undefined || items === undefined) return undefined;
      const item = items.shift();
      // Both go to the end, unless nothing of them waits.
      routes.delete(route);
      if (items.length > 0) routes.set(route, items);
      waiting.delete(source);
      if (routes.size > 0) waiting.set(source, routes);
      return item;
    },
  };
}

/** The first of the names that occur least often in others. */
function withFewest(names: Iterable<string>, among: readonly string[]): string | undefined {
  const countOf = (name: string) => among.filter((one) => one === name).length;
  return [...names].reduce<string | undefined>(
    (best, name) => (best === undefined || countOf(name) < countOf(best) ? name : best),
    undefined,
  );
}
