/**
 * Things that come and go, each in a numbered slot that is used again. A `Map` or a `Set` would do, but V8 links each
 * table that one has outgrown, or filled with what has been deleted, to the next: once one of them is old, all that
 * follow grow old with what they held, and stay until a full collection.
 */
export class Slots<Item> {
  readonly #items: (Item | undefined)[] = [];
  readonly #free: number[] = [];

  /** Puts an item into a free slot and returns its number. */
  put(item: Item): number {
    const slot = this.#free.pop() ?? this.#items.length;
    this.#items[slot] = item;
    return slot;
  }

  /** Takes the item out of a slot and returns it; nothing when the slot is free. */
  take(slot: number): Item | undefined {
    const item = this.#items[slot];
    if (item === undefined) return undefined;
    this.#items[slot] = undefined;
    this.#free.push(slot);
    return item;
  }

  /** How many items there are. */
  get size(): number {
    return this.#items.length - this.#free.length;
  }

  /** The items, in no order. */
  [Symbol.iterator](): IterableIterator<Item> {
    return this.#items.filter((item) => item !== undefined).values();
  }
}
