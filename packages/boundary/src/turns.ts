const owners = new WeakMap<AbortSignal, string>();

/** Notes whose work a signal ends, for the queues that it will wait in. */
export function setOwner(signal: AbortSignal, owner: string | undefined): void {
  if (owner !== undefined) owners.set(signal, owner);
}

/** Whose work a signal ends; undefined for the only user of a process. */
export const ownerOf = (signal: AbortSignal | undefined): string | undefined =>
  signal === undefined ? undefined : owners.get(signal);

/** A queue in which owners take turns: whoever brings a thousand pieces of work delays another's by one. */
export class TurnQueue<Item> {
  readonly #lanes = new Map<string | undefined, Set<Item>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The item whose turn it is: the oldest of the owner who has not been served for the longest time. */
  get first(): Item | undefined {
    for (const lane of this.#lanes.values()) for (const item of lane) return item;
    return undefined;
  }

  add(item: Item, owner: string | undefined): void {
    const lane = this.#lanes.get(owner) ?? new Set();
    this.#lanes.set(owner, lane.add(item));
    this.#size += 1;
  }

  /** Takes the first item, after which its owner is the last. */
  take(): Item | undefined {
    for (const [owner, lane] of this.#lanes)
      for (const item of lane) {
        this.delete(item, owner);
        if (lane.size > 0 && this.#lanes.delete(owner)) this.#lanes.set(owner, lane);
        return item;
      }
    return undefined;
  }

  delete(item: Item, owner: string | undefined): void {
    const lane = this.#lanes.get(owner);
    if (lane?.delete(item) !== true) return;
    this.#size -= 1;
    if (lane.size === 0) this.#lanes.delete(owner);
  }
}
