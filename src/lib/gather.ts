/**
 * Collects items while each turn of the event loop brings more, up to `max`, and then runs them in one turn. This keeps
 * the code of each step in the processor's caches.
 */
export function gather<Item>(run: (item: Item) => void, max: number): (item: Item) => void {
  let items: Item[] = [];

  /** Runs the items if the turn has brought none. `before` is their number at its beginning. */
  function endTurn(before: number): void {
    const { length } = items;
    if (length > before && length < max) {
      setImmediate(endTurn, length);
      return;
    }
    const gathered = items;
    items = [];
    for (const item of gathered) run(item);
  }

  return (item) => {
    if (items.length === 0) setImmediate(endTurn, 0);
    items.push(item);
  };
}
