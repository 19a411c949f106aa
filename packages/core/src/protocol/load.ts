/** Messages up to this size are accepted even if large ones have used up the total. */
const LARGE_BYTES = 16_384;

/** The load on a process from all clients, and its limits. */
export class Load {
  /**
   * Running requests: unanswered ones, and those that ended while their handlers still run. Subscriptions do not count.
   */
  readonly requests: Slots;
  /** Bytes of the messages that are being read, and of those whose requests are running. */
  readonly bytes: Amount;
  /** Watched resources; each may use a system handle. */
  readonly watches = new Amount(2_000);
  /** Open streams of `subscriptions/listen`. */
  readonly streams = new Amount(2_048);
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
    this.requests = this.slots(requests);
    this.bytes = new Amount(bytes);
    this.rates = new Rates(perMinute);
  }

  /** Further slots for the same callers. */
  slots(all: number): Slots {
    return new Slots(all, this.#isShared ? Math.ceil(all / 2) : all);
  }

  /** Whether a message of this size may be kept. @param uncounted how much of it `bytes` does not count yet. */
  hasRoomForBytes(size: number, uncounted = size): boolean {
    return size <= LARGE_BYTES || this.bytes.hasRoom(uncounted);
  }
}

/** A limited amount of something. */
export class Amount {
  readonly all: number;
  taken = 0;

  constructor(all: number) {
    this.all = all;
  }

  hasRoom(amount = 1): boolean {
    return this.taken + amount <= this.all;
  }

  /** @returns whether there was room for one. */
  take(): boolean {
    const isFree = this.hasRoom();
    if (isFree) this.taken += 1;
    return isFree;
  }

  /** Counts an amount, even one for which there is no room; negative if it is given back. */
  count(amount: number): void {
    this.taken += amount;
  }
}

/** Slots of which each caller may hold a limited number. */
export class Slots {
  readonly #all: number;
  /** The maximum that one caller can hold. */
  readonly each: number;
  readonly #held = new Map<string, number>();
  taken = 0;

  constructor(all: number, each: number) {
    this.#all = all;
    this.each = each;
  }

  held(owner: string): number {
    return this.#held.get(owner) ?? 0;
  }

  hasRoom(owner: string, amount = 1): boolean {
    return this.taken + amount <= this.#all && this.held(owner) + amount <= this.each;
  }

  /** @returns whether the caller got a slot. */
  take(owner: string): boolean {
    const isFree = this.hasRoom(owner);
    if (isFree) this.count(owner, 1);
    return isFree;
  }

  /** Counts slots, even those for which there is no room; negative if they are given back. */
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
