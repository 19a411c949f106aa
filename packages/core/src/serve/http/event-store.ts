import type { EventStore, JSONRPCMessage } from "@modelcontextprotocol/server";

/** Limits of what is kept for clients that lost a stream. */
export interface EventLimits {
  /** Most characters of messages of all sessions together. */
  readonly total: number;
  /** Most characters of one session. */
  readonly perSession: number;
}

interface Kept {
  readonly id: string;
  readonly stream: string;
  readonly message: JSONRPCMessage;
  readonly size: number;
}

/** What a message costs beside its text. */
const OVERHEAD = 200;

/** The events of all sessions of a process, within one limit: the session that holds most gives way first. */
export class EventStores {
  readonly #limits: EventLimits;
  readonly #stores = new Set<BoundedEventStore>();

  constructor(limits: EventLimits) {
    this.#limits = limits;
  }

  /** Characters kept now. */
  get size(): number {
    let size = 0;
    for (const store of this.#stores) size += store.size;
    return size;
  }

  open(): BoundedEventStore {
    const store: BoundedEventStore = new BoundedEventStore(this.#limits.perSession, () => this.#shrink());
    this.#stores.add(store);
    return store;
  }

  close(store: BoundedEventStore): void {
    this.#stores.delete(store);
  }

  #shrink(): void {
    while (this.size > this.#limits.total) {
      let largest: BoundedEventStore | undefined;
      for (const store of this.#stores) if (store.size > (largest?.size ?? 0)) largest = store;
      if (largest === undefined) return;
      largest.dropOldest();
    }
  }
}

/**
 * The latest events of one session, oldest dropped first. An event id names its stream, so that a client resumes
 * only what it lost, and only where nothing after its last event is missing.
 */
export class BoundedEventStore implements EventStore {
  readonly #limit: number;
  readonly #grown: () => void;
  #kept: Kept[] = [];
  #next = 1;
  /** Of each stream the highest event that is gone. */
  readonly #dropped = new Map<string, number>();
  size = 0;

  constructor(limit: number, grown: () => void) {
    this.#limit = limit;
    this.#grown = grown;
  }

  async storeEvent(stream: string, message: JSONRPCMessage): Promise<string> {
    const id = `${this.#next}_${stream}`;
    this.#next += 1;
    const size = JSON.stringify(message).length + OVERHEAD;
    this.#kept.push({ id, stream, message, size });
    this.size += size;
    while (this.size > this.#limit) this.dropOldest();
    this.#grown();
    return id;
  }

  /** Whether all that came after an event on its stream is still here. */
  canResume(id: string): boolean {
    const place = placeOf(id);
    if (place === undefined || place.number >= this.#next) return false;
    const dropped = this.#dropped.get(place.stream);
    if (dropped !== undefined) return place.number >= dropped;
    return this.#kept.some((event) => event.stream === place.stream);
  }

  async getStreamIdForEventId(id: string): Promise<string | undefined> {
    return this.canResume(id) ? placeOf(id)?.stream : undefined;
  }

  async replayEventsAfter(
    lastEventId: string,
    { send }: { send: (id: string, message: JSONRPCMessage) => Promise<void> },
  ): Promise<string> {
    const place = placeOf(lastEventId);
    if (place === undefined) throw new TypeError(`not an event id: ${lastEventId}`);
    for (const event of this.#kept) {
      const number = placeOf(event.id)?.number ?? 0;
      // An empty message only primed the stream.
      if (event.stream !== place.stream || number <= place.number || !("jsonrpc" in event.message)) continue;
      await send(event.id, event.message);
    }
    return place.stream;
  }

  dropOldest(): void {
    const event = this.#kept.shift();
    if (event === undefined) return;
    this.size -= event.size;
    this.#dropped.set(event.stream, placeOf(event.id)?.number ?? 0);
    // Of streams without any event left, only so many are remembered; the others cannot be resumed.
    if (this.#dropped.size > 1000)
      for (const stream of [...this.#dropped.keys()].slice(0, 500)) this.#dropped.delete(stream);
  }
}

function placeOf(id: string): { number: number; stream: string } | undefined {
  const found = /^(\d{1,15})_(.+)$/.exec(id);
  const stream = found?.[2];
  return stream === undefined ? undefined : { number: Number(found?.[1]), stream };
}
