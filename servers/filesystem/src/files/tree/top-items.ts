/**
 * The first `count` of many items in an order, without keeping or sorting them all: memory is bounded by `count`,
 * time is linear in the items.
 */
export class TopItems<Item> {
  readonly #count: number;
  readonly #compare: (a: Item, b: Item) => number;
  #items: Item[] = [];
  /** No later one is of interest. */
  #worst: Item | undefined;

  constructor(count: number, compare: (a: Item, b: Item) => number) {
    this.#count = count;
    this.#compare = compare;
  }

  add(item: Item): void {
    if (this.#worst !== undefined && this.#compare(item, this.#worst) >= 0) return;
    this.#items.push(item);
    if (this.#items.length >= 2 * this.#count + 16) this.#cut();
  }

  /** The leading items, in order. */
  take(): Item[] {
    this.#cut();
    return this.#items;
  }

  #cut(): void {
    this.#items.sort(this.#compare);
    if (this.#items.length > this.#count) this.#items.length = this.#count;
    if (this.#items.length === this.#count) this.#worst = this.#items.at(-1);
  }
}
