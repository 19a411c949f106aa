/** Messages up to this size are accepted even if large ones have used up the total. */
const LARGE_BYTES = 16_384;

/** The load on a process from all clients, and its limits. */
export class Load {
  /**
   * Running requests: unanswered ones, and those that ended while their handlers still run. Subscriptions do not count.
   */
  readonly requests: Shares;
  /** Bytes of the messages that are being read, and of those whose requests are running. */
  readonly bytes: Shares;
  /** Watched resources; each may use a system handle. */
  readonly watches: Shares;
  /** Open streams of `subscriptions/listen`. */
  readonly streams: Shares;
  readonly rates: Rates;
  readonly #isShared: boolean;

  /** @param isShared whether callers are told apart, so that none may use up what others need. */
  constructor({
    requests = Number.POSITIVE_INFINITY,
    bytes = Number.POSITIVE_INFINITY,
    perMinute = Number.POSITIVE_INFINITY,
    isShared = false,
  }: {
    readonly requests?: number;
    readonly bytes?: number;
    readonly perMinute?: number;
    readonly isShared?: boolean;
  } = {}) {
    this.#isShared = isShared;
    this.requests = this.shares(requests);
    this.bytes = this.shares(bytes);
    this.watches = this.shares(2_000);
    this.streams = this.shares(2_048);
    this.rates = new Rates(perMinute);
  }

  /** A further limited amount that the same callers share. */
  shares(all: number): Shares {
    return new Shares(all, this.#isShared);
  }

  /** Whether a message of this size may be kept. @param uncounted how much of it `bytes` does not count yet. */
  hasRoomForBytes(owner: string, size: number, uncounted = size): boolean {
    return size <= LARGE_BYTES || this.bytes.hasRoom(owner, uncounted);
  }
}

/** A limited amount of something that callers share: each may hold at most as much as is still free. */
export class Shares {
  readonly #all: number;
  readonly #isShared: boolean;
  readonly #held = new Map<string, number>();
  taken = 0;

  /** @param isShared whether there may be several callers; a single one may hold everything. */
  constructor(all: number, isShared: boolean) {
    this.#all = all;
    this.#isShared = isShared;
  }

  /** The maximum that one caller can hold. */
  get each(): number {
    return this.#isShared ? Math.ceil(this.#all / 2) : this.#all;
  }

  held(owner: string): number {
    return this.#held.get(owner) ?? 0;
  }

  /** The caller that holds the most; undefined if none holds any. */
  get largest(): string | undefined {
    let largest: string | undefined;
    for (const [owner, held] of this.#held)
      if (largest === undefined || held > this.held(largest)) largest = owner;
    return largest;
  }

  hasRoom(owner: string, amount = 1): boolean {
    return this.taken + amount <= this.#all - (this.#isShared ? this.held(owner) : 0);
  }

  /** @returns whether the caller got a slot. */
  take(owner: string): boolean {
    const isFree = this.hasRoom(owner);
    if (isFree) this.count(owner, 1);
    return isFree;
  }

  giveBack(owner: string): void {
    this.count(owner, -1);
  }

  /** Counts an amount, even one for which there is no room; negative if it is given back. */
  count(owner: string, amount: number): void {
    const held = this.held(owner) + amount;
    if (held === 0) this.#held.delete(owner);
    else this.#held.set(owner, held);
    this.taken += amount;
  }
}

/** Beyond this many callers, those whose last request was more than a minute ago are forgotten. */
const MAX_REMEMBERED = 1_000;

/** Limits how many requests a caller makes (a token bucket each): a tenth of a minute's at once, then evenly. */
export class Rates {
  readonly #perMinute: number;
  readonly #atOnce: number;
  readonly #callers = new Map<string, { left: number; at: number }>();

  constructor(perMinute: number) {
    this.#perMinute = perMinute;
    this.#atOnce = Math.ceil(perMinute / 10);
  }

  /**
   * Counts requests of a caller, unless there are too many.
   *
   * @param now in milliseconds, of any clock that never goes back.
   * @returns the seconds after which to retry; 0 if they were counted.
   */
  retryAfter(owner: string, requests = 1, now = performance.now()): number {
    if (this.#perMinute === Number.POSITIVE_INFINITY) return 0;
    const perMs = this.#perMinute / 60_000;
    const last = this.#callers.get(owner) ?? { left: this.#atOnce, at: now };
    const left = Math.min(this.#atOnce, last.left + (now - last.at) * perMs);
    // More than the maximum at once, as in a batch, is possible if nothing else was requested.
    const missing = Math.min(requests, this.#atOnce) - left;
    if (missing > 0) return Math.ceil(missing / perMs / 1_000);
    // The map is in the order of the last requests.
    this.#callers.delete(owner);
    this.#callers.set(owner, { left: left - requests, at: now });
    if (this.#callers.size > MAX_REMEMBERED)
      for (const [caller, { at }] of this.#callers) {
        if (now - at <= 60_000) break;
        this.#callers.delete(caller);
      }
    return 0;
  }
}
