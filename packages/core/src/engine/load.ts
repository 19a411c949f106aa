/** Messages up to this size are accepted even if large ones have used up the total. */
const LARGE_BYTES = 16_384;

/** The load on a process from all callers, and its limits. */
export class Load {
  /** Running requests, and those that ended while their handlers still run. Subscriptions do not count. */
  readonly requests: Limit;
  /** Bytes of the messages that are being read, and of those whose requests are running. */
  readonly bytes: Limit;
  /** Watched resources; each may use a system handle. */
  readonly watches: Limit;
  /** Sessions of Streamable HTTP; an idle one makes room for another. */
  readonly sessions: Limit;
  /** WebSockets and streams of HTTP+SSE. */
  readonly channels: Limit;
  /** Open streams of `subscriptions/listen`. */
  readonly streams: Limit;
  /** Tasks that have not expired, and the characters of their results. */
  readonly tasks: Limit;
  readonly taskCharacters: Limit;
  readonly #isShared: boolean;
  readonly #perMinute: number;
  /** The messages of each caller in the current minute. */
  readonly #messagesByOwner = new Map<string, number>();
  #minute = 0;

  /** @param isShared whether each caller may use at most half of a limit. Default: callers are not distinguished. */
  constructor({
    requests = Number.POSITIVE_INFINITY,
    bytes = Number.POSITIVE_INFINITY,
    sessions = Number.POSITIVE_INFINITY,
    perMinute = Number.POSITIVE_INFINITY,
    isShared = false,
  } = {}) {
    this.#isShared = isShared;
    this.#perMinute = perMinute;
    this.requests = this.limit(requests);
    this.bytes = this.limit(bytes);
    this.sessions = this.limit(sessions);
    this.channels = this.limit(sessions);
    this.watches = this.limit(2_000);
    this.streams = this.limit(2_048);
    this.tasks = this.limit(2_000);
    this.taskCharacters = this.limit(64 * 1_048_576);
  }

  /** A limit. A caller may use at most half of it if callers are distinguished. */
  limit(total: number): Limit {
    return new Limit(total, this.#isShared ? Math.ceil(total / 2) : total);
  }

  /** Counts a message of a caller. @returns whether it has sent more than it may in this minute. */
  isOverRate(owner: string): boolean {
    const minute = Math.floor(performance.now() / 60_000);
    if (minute !== this.#minute) this.#messagesByOwner.clear();
    this.#minute = minute;
    const count = (this.#messagesByOwner.get(owner) ?? 0) + 1;
    this.#messagesByOwner.set(owner, count);
    return count > this.#perMinute;
  }

  /** Whether a caller's message of this size may be kept. @param uncounted the part of it that is not yet in `bytes`. */
  hasRoomForBytes(size: number, owner: string, uncounted = size): boolean {
    return size <= LARGE_BYTES || this.bytes.hasRoom(uncounted, owner);
  }
}

/** A limit on how much of something is used: by all callers together, and by each of them. */
export class Limit {
  readonly total: number;
  readonly perOwner: number;
  used = 0;
  readonly #byOwner = new Map<string, number>();

  constructor(total: number, perOwner = total) {
    this.total = total;
    this.perOwner = perOwner;
  }

  usedBy(owner: string): number {
    return this.perOwner === this.total ? this.used : (this.#byOwner.get(owner) ?? 0);
  }

  hasRoom(amount = 1, owner = ""): boolean {
    return this.used + amount <= this.total && this.usedBy(owner) + amount <= this.perOwner;
  }

  /** Counts an amount, even one for which there is no room; negative if it is given back. */
  count(amount: number, owner = ""): void {
    this.used += amount;
    if (this.perOwner === this.total) return;
    const used = this.usedBy(owner) + amount;
    if (used === 0) this.#byOwner.delete(owner);
    else this.#byOwner.set(owner, used);
  }

  /** Counts one if there is room. @returns whether there was. */
  take(owner = ""): boolean {
    const isFree = this.hasRoom(1, owner);
    if (isFree) this.count(1, owner);
    return isFree;
  }
}
