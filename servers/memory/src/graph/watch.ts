import type { Reader, Store } from "./store.ts";

/** What changed: the names of the entities, or "all" where they are too many or not known. */
export type Touched = ReadonlySet<string> | "all";

const POLL_MS = 250;
const MOST_CHANGES = 100;
const MOST_NAMES = 1_000;

/**
 * Tells listeners of every commit to the store, whichever process made it. It looks at the store's version four
 * times a second, and only while somebody listens.
 */
export class GraphWatch {
  readonly #store: Store;
  readonly #listeners = new Set<(touched: Touched) => void>();
  #timer: NodeJS.Timeout | undefined;
  #version = -1;
  #lastChange = 0;
  #looking: Promise<void> | undefined;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Starts listening; returns the function that stops it. Commits made after it resolves are told. */
  async listen(listener: (touched: Touched) => void): Promise<() => void> {
    if (this.#listeners.size === 0) await this.#start();
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.close();
    };
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#listeners.clear();
  }

  async #start(): Promise<void> {
    this.#version = await this.#store.version();
    this.#lastChange = (await this.#store.read((reader) => reader.changes(undefined, 1)))[0]?.id ?? 0;
    clearInterval(this.#timer);
    this.#timer = setInterval(() => {
      // A slow store is not asked again before it has answered.
      this.#looking ??= this.#look()
        .catch(() => undefined)
        .finally(() => {
          this.#looking = undefined;
        });
    }, POLL_MS);
    this.#timer.unref();
  }

  async #look(): Promise<void> {
    const version = await this.#store.version();
    if (version === this.#version) return;
    const touched = await this.#store.read((reader) => this.#touchedSince(reader));
    this.#version = version;
    if (touched !== undefined) for (const listener of this.#listeners) listener(touched);
  }

  async #touchedSince(reader: Reader): Promise<Touched | undefined> {
    const changes = await reader.changesSince(this.#lastChange, MOST_CHANGES + 1);
    const last = changes.at(-1);
    if (last === undefined) return undefined;
    if (changes.length > MOST_CHANGES || changes.some(({ hard }) => hard)) {
      this.#lastChange = (await reader.changes(undefined, 1))[0]?.id ?? last.id;
      return "all";
    }
    this.#lastChange = last.id;
    const names = new Set<string>();
    const ids = new Set<number>();
    for (const { id } of changes) {
      const items = await reader.itemsOf(id);
      if (items.length > MOST_NAMES) return "all";
      for (const { kind, op, entityId, otherId, before } of items) {
        ids.add(entityId);
        if (otherId !== null) ids.add(otherId);
        if (kind === "entity" && op === "rename" && before !== null) names.add(before);
      }
    }
    for (const { name } of (await reader.entitiesById([...ids])).values()) names.add(name);
    return names;
  }
}
