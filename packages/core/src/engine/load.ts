/** Messages up to this size are accepted even if large ones have used up the total. */
const LARGE_BYTES = 16_384;

/** The load on a process from all callers, and its limits. */
export class Load {
  /** Running requests, and those that ended while their handlers still run. Subscriptions do not count. */
  readonly requests: Limit;
  /** Bytes of the messages that are being read, and of those whose requests are running. */
  readonly bytes: Limit;
  /** Watched resources; each may use a system handle. */
  readonly watches = new Limit(2_000);
  /** Open streams of `subscriptions/listen`. */
  readonly streams = new Limit(2_048);
  readonly rates: Rates;
  readonly #isShared: boolean;

  /** @param isShared whether callers are told apart, so that none may use up what others need. */
  constructor({
    requests = Number.POSITIVE_INFINITY,
    bytes = Number.POSITIVE_INFINITY,
    perMinute = Number.POSITIVE_INFINITY,
    isShared = false,
  } = {}) {
    this.#isShared = isShared;
    this.requests = this.limit(requests);
    this.bytes = new Limit(bytes);
    this.rates = new Rates(perMinute);
  }

  /** A further limit, of which a caller may use at most half if callers are told apart. */
  limit(all: number): Limit {
    return new Limit(all, this.#isShared ? Math.ceil(all / 2) : all);
  }

  /** Whether a message of this size may be kept. @param uncounted how much of it `bytes` does not count yet. */
  hasRoomForBytes(size: number, uncounted = size): boolean {
    return size <= LARGE_BYTES || this.bytes.hasRoom(uncounted);
  }
}

/** A limit on how much of something is used: by all callers together, and by each of them. */
export class Limit {
  readonly all: number;
  readonly each: number;
  used = 0;
  readonly #byOwner = new Map<string, number>();

  constructor(all: number, each = all) {
    this.all = all;
    this.each = each;
  }

  usedBy(owner: string): number {
    return this.each === this.all ? this.used : (this.#byOwner.get(owner) ?? 0);
  }

  hasRoom(amount = 1, owner = ""): boolean {
    return this.used + amount <= this.all && this.usedBy(owner) + amount <= this.each;
  }

  /** Counts an amount, even one for which there is no room; negative if it is given back. */
  count(amount: number, owner = ""): void {
    this.used += amount;
    if (this.each === this.all) return;
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

/** Beyond this many callers, those whose last request was more than a minute ago are forgotten. */
const MAX_REMEMBERED = 1_000;

/** Limits how many requests a caller makes (a token bucket each): a tenth of a minute's at once, then evenly. */
class Rates {
  readonly #perMinute: number;
  readonly #atOnce: number;
  /** In the order of the callers' last requests. */
  readonly #buckets = new Map<string, { readonly left: number; readonly at: number }>();

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
    const last = this.#buckets.get(owner) ?? { left: this.#atOnce, at: now };
    const left = Math.min(this.#atOnce, last.left + (now - last.at) * perMs);
    // More than the maximum at once, as in a batch, is possible if nothing else was requested.
    const missing = Math.min(requests, this.#atOnce) - left;
    if (missing > 0) return Math.ceil(missing / perMs / 1_000);
    this.#buckets.delete(owner);
    this.#buckets.set(owner, { left: left - requests, at: now });
    if (this.#buckets.size > MAX_REMEMBERED)
      for (const [caller, { at }] of this.#buckets) {
        if (now - at <= 60_000) break;
        this.#buckets.delete(caller);
      }
    return 0;
  }
}
