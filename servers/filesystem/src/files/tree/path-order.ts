/** Compares by UTF-16 code units, which gives the same order in every locale. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

const SLASH = 0x2f;

/**
 * Compares two paths with `/` between components in the order of a walk: component by component, so `a/b` comes before
 * `a-b`.
 */
export function comparePaths(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const left = a.charCodeAt(at);
    const right = b.charCodeAt(at);
    if (left === right) continue;
    if (left === SLASH) return -1;
    if (right === SLASH) return 1;
    return left - right;
  }
  return a.length - b.length;
}

/**
 * Collects the first `count` of many items in an order, without keeping or sorting them all: memory is bounded by
 * `count`, time is linear in the number of items.
 */
export class TopItems<Item> {
  readonly #count: number;
  readonly #compare: (a: Item, b: Item) => number;
  #items: Item[] = [];
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
