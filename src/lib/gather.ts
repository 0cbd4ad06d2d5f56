/**
 * Gathers what comes in turns of the event loop that each bring more, and then runs it together, `most` at once: the
 * processor goes through each step for all of them while it has it at hand.
 */
export function gather<Item>(run: (item: Item) => void, most: number): (item: Item) => void {
  let items: Item[] = [];

  /** At the end of a turn, before which so many had come. */
  function look(before: number): void {
    const { length } = items;
    if (length > before && length < most) {
      setImmediate(look, length);
      return;
    }
    const gathered = items;
    items = [];
    for (const item of gathered) run(item);
  }

  return (item) => {
    if (items.length === 0) setImmediate(look, 0);
    items.push(item);
  };
}
