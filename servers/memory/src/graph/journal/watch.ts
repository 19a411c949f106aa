import type { Reader, Store } from "../store/store.ts";

/** What changed: the names of the entities, or "all" if there are too many or they are unknown. */
type Touched = ReadonlySet<string> | "all";

const POLL_MS = 250;
const MAX_CHANGES = 100;
const MAX_ROWS = 1_000;

/**
 * Notifies listeners of every commit to a store by any process. It polls four times a second, and only while there are
 * listeners.
 */
export class GraphWatch {
  readonly #store: Store;
  readonly #listeners = new Set<(touched: Touched) => void>();
  #timer: NodeJS.Timeout | undefined;
  #version = Number.NaN;
  /** The last change that was seen. */
  #change = 0;
  #isLooking = false;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Starts listening; returns a function that stops it. The listener is notified of all commits after it resolves. */
  async listen(listener: (touched: Touched) => void): Promise<() => void> {
    if (this.#listeners.size === 0) {
      await this.#look();
      clearInterval(this.#timer);
      this.#timer = setInterval(() => void this.#notify(), POLL_MS);
      this.#timer.unref();
    }
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

  async #notify(): Promise<void> {
    // Don't poll a slow store again until it has replied.
    if (this.#isLooking) return;
    this.#isLooking = true;
    const touched = await this.#look().catch(() => undefined);
    this.#isLooking = false;
    if (touched !== undefined) for (const listener of this.#listeners) listener(touched);
  }

  /** What changed since the last look; undefined if nothing did. */
  async #look(): Promise<Touched | undefined> {
    const version = await this.#store.version();
    if (version === this.#version) return undefined;
    return this.#store.read(async (reader) => {
      const since = this.#change;
      this.#version = version;
      this.#change = (await reader.changes(undefined, 1))[0]?.id ?? 0;
      return this.#change === since ? undefined : touchedAfter(reader, since);
    });
  }
}

async function touchedAfter(reader: Reader, change: number): Promise<Touched> {
  const changes = await reader.changesSince(change, MAX_CHANGES + 1);
  if (changes.length > MAX_CHANGES || changes.some(({ hard }) => hard)) return "all";
  let rows = 0;
  for (const { id } of changes) rows += (await reader.journal(id, MAX_ROWS + 1)).length;
  if (rows > MAX_ROWS) return "all";
  const ids = changes.map(({ id }) => id);
  return new Set(await reader.touchedNames(ids, MAX_ROWS));
}
