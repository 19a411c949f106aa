/** Limits on the events kept for clients that lost a stream. */
export interface EventLimits {
  /** Maximum characters of messages in all sessions together. */
  readonly total: number;
  /** Maximum characters in one session. */
  readonly perSession: number;
}

/** An event of a stream: JSON text, or "" if it only marks the beginning of the stream. */
export interface StoredEvent {
  readonly id: string;
  readonly number: number;
  readonly stream: string;
  readonly json: string;
}

/** The characters that a message counts in addition to its text. */
const OVERHEAD = 200;
/** How many streams without events are remembered; others cannot be resumed. */
const MAX_FORGOTTEN = 1_000;

/** The events of all sessions of a process, within one limit. The session with the most loses events first. */
export class EventStores {
  readonly #limits: EventLimits;
  readonly #stores = new Set<EventStore>();

  constructor(limits: EventLimits) {
    this.#limits = limits;
  }

  /** Characters kept now. */
  get size(): number {
    let size = 0;
    for (const store of this.#stores) size += store.size;
    return size;
  }

  open(): EventStore {
    const store: EventStore = new EventStore(this.#limits.perSession, () => this.#shrink());
    this.#stores.add(store);
    return store;
  }

  close(store: EventStore): void {
    this.#stores.delete(store);
  }

  #shrink(): void {
    while (this.size > this.#limits.total) {
      let largest: EventStore | undefined;
      for (const store of this.#stores) if (store.size > (largest?.size ?? 0)) largest = store;
      if (largest === undefined) return;
      largest.dropOldest();
    }
  }
}

/**
 * The latest events of one session; the oldest are dropped first. An event id contains its stream, so a client resumes
 * only the stream that it lost, and only if no later event is missing.
 */
export class EventStore {
  readonly #limit: number;
  readonly #grown: () => void;
  #kept: StoredEvent[] = [];
  #next = 1;
  /** For each stream, the newest event that was dropped. */
  readonly #dropped = new Map<string, number>();
  size = 0;

  constructor(limit: number, grown: () => void) {
    this.#limit = limit;
    this.#grown = grown;
  }

  /** Keeps an event of a stream. @returns its id. */
  add(stream: string, json: string): string {
    const number = this.#next;
    const id = `${number}_${stream}`;
    this.#next += 1;
    this.#kept.push({ id, number, stream, json });
    this.size += json.length + OVERHEAD;
    while (this.size > this.#limit) this.dropOldest();
    this.#grown();
    return id;
  }

  /** The stream of an event and the events after it; undefined if some are no longer stored. */
  after(id: string): { readonly stream: string; readonly events: readonly StoredEvent[] } | undefined {
    const [, digits, stream] = /^(\d{1,15})_(.+)$/.exec(id) ?? [];
    const number = Number(digits);
    if (stream === undefined || number >= this.#next) return undefined;
    const ofStream = this.#kept.filter((event) => event.stream === stream);
    const dropped = this.#dropped.get(stream);
    if (dropped === undefined ? ofStream.length === 0 : number < dropped) return undefined;
    return { stream, events: ofStream.filter((event) => event.number > number && event.json !== "") };
  }

  dropOldest(): void {
    const event = this.#kept.shift();
    if (event === undefined) return;
    this.size -= event.json.length + OVERHEAD;
    // Moved to the end, so that the least recently used is dropped first.
    this.#dropped.delete(event.stream);
    this.#dropped.set(event.stream, event.number);
    if (this.#dropped.size > MAX_FORGOTTEN)
      for (const stream of [...this.#dropped.keys()].slice(0, MAX_FORGOTTEN / 2))
        this.#dropped.delete(stream);
  }
}
