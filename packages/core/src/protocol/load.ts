/** Messages up to this size are accepted even if large ones have used up the total. */
const LARGE_BYTES = 16_384;

/** The load on a process from all clients, and its limits. */
export class Load {
  /**
   * Running requests: unanswered ones, and those that ended while their handlers still run. Subscriptions do not count.
   */
  requests = 0;
  /** Bytes of the messages that are being read, and of those whose requests are running. */
  bytes = 0;
  /** Watched resources; each may use a system handle. */
  readonly watches = new Shares(2_000);
  /** Open streams of `subscriptions/listen`. */
  readonly streams = new Shares(2_048);
  readonly #maxRequests: number;
  readonly #maxBytes: number;

  constructor(maxRequests = Number.POSITIVE_INFINITY, maxBytes = Number.POSITIVE_INFINITY) {
    this.#maxRequests = maxRequests;
    this.#maxBytes = maxBytes;
  }

  /** Whether `count` more requests may run. */
  hasRoomFor(requests: number): boolean {
    return this.requests + requests <= this.#maxRequests;
  }

  /** Whether a message of this size may be kept. @param uncounted how much of it `bytes` does not count yet. */
  hasRoomForBytes(size: number, uncounted = size): boolean {
    return size <= LARGE_BYTES || this.bytes + uncounted <= this.#maxBytes;
  }
}

/** A limited number of slots shared by callers: each caller may hold at most as many as are still free. */
export class Shares {
  readonly #all: number;
  readonly #held = new Map<string, number>();
  #taken = 0;

  constructor(all: number) {
    this.#all = all;
  }

  /** The maximum that one caller can hold. */
  get each(): number {
    return Math.ceil(this.#all / 2);
  }

  /** @returns whether the caller got a slot. */
  take(caller: string): boolean {
    const held = this.#held.get(caller) ?? 0;
    if (held >= this.#all - this.#taken) return false;
    this.#held.set(caller, held + 1);
    this.#taken += 1;
    return true;
  }

  giveBack(caller: string): void {
    const held = this.#held.get(caller) ?? 0;
    if (held > 1) this.#held.set(caller, held - 1);
    else this.#held.delete(caller);
    this.#taken -= 1;
  }
}
