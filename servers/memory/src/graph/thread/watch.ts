import type { Reader, Store } from "../store/store.ts";

/** What changed: the names of the entities, or "all" if there are too many or they are unknown. */
export type Touched = ReadonlySet<string> | "all";

/** How much of a store's history a watcher has seen. */
type Seen = { readonly version: number; readonly change: number };

/** Checks for commits after those seen, by any process; the first check only records the current position. */
type Look = (
  seen: Seen | undefined,
) => Promise<{ readonly seen: Seen; readonly touched?: Touched }>;

const POLL_MS = 250;
const MAX_CHANGES = 100;
const MAX_NAMES = 1_000;

/** See `Look`. */
export async function changesAfter(store: Store, seen: Seen | undefined): ReturnType<Look> {
  const version = await store.version();
  if (version === seen?.version) return { seen };
  return store.read(async (reader) => {
    const last = (await reader.changes(undefined, 1))[0]?.id ?? 0;
    if (seen === undefined || last === seen.change) return { seen: { version, change: last } };
    return { seen: { version, change: last }, touched: await touchedAfter(reader, seen.change) };
  });
}

async function touchedAfter(reader: Reader, change: number): Promise<Touched> {
  const changes = await reader.changesSince(change, MAX_CHANGES + 1);
  if (changes.length > MAX_CHANGES || changes.some(({ hard }) => hard)) return "all";
  const names = new Set<string>();
  const ids = new Set<number>();
  for (const { id } of changes) {
    const items = await reader.itemsOf(id);
    if (items.length > MAX_NAMES) return "all";
    for (const { kind, op, entityId, otherId, before } of items) {
      ids.add(entityId);
      if (otherId !== null) ids.add(otherId);
      if (kind === "entity" && op === "rename" && before !== null) names.add(before);
    }
  }
  for (const { name } of (await reader.entitiesById([...ids])).values()) names.add(name);
  return names;
}

/**
 * Notifies listeners of every commit to a store by any process. It polls four times a second, and only while there are
 * listeners.
 */
export class GraphWatch {
  readonly #look: Look;
  readonly #listeners = new Set<(touched: Touched) => void>();
  #timer: NodeJS.Timeout | undefined;
  #seen: Seen | undefined;
  #isLooking = false;

  constructor(look: Look) {
    this.#look = look;
  }

  /**
   * Starts listening; returns a function that stops it. The listener is notified of all commits after it resolves.
   */
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
    this.#seen = (await this.#look(undefined)).seen;
    clearInterval(this.#timer);
    this.#timer = setInterval(() => void this.#notify(), POLL_MS);
    this.#timer.unref();
  }

  async #notify(): Promise<void> {
    // Don't poll a slow store again until it has replied.
    if (this.#isLooking) return;
    this.#isLooking = true;
    const { seen, touched } = await this.#look(this.#seen).catch(() => ({
      seen: this.#seen,
      touched: undefined,
    }));
    this.#isLooking = false;
    this.#seen = seen;
    if (touched !== undefined) for (const listener of this.#listeners) listener(touched);
  }
}
