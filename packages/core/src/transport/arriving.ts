import type { Load } from "../protocol/load.ts";

/** The header and the mask of a client's control frame (RFC 6455, section 5.2). */
const CONTROL_BYTES = 6;

interface ArrivingOptions {
  readonly limitMs: number;
  /** Whether reading is paused; then the client is not to blame. */
  readonly isPaused: () => boolean;
  readonly refuse: (why: string) => void;
}

/**
 * Counts what a WebSocket has received of an unfinished message, with the limits of HTTP bodies: all messages of a
 * process together, and a time limit for each. The library only limits the size of one message.
 */
export class Arriving {
  readonly #load: Load;
  readonly #options: ArrivingOptions;
  #bytes = 0;
  /** Bytes of complete messages that are not taken yet. */
  #complete = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(load: Load, options: ArrivingOptions) {
    this.#load = load;
    this.#options = options;
  }

  /** Bytes arrived, of whatever frames. */
  add(bytes: number): void {
    this.#count(bytes);
    this.#timer ??= setTimeout(this.#late, this.#options.limitMs);
  }

  /** Ends the connection if there is no room for the unfinished message. */
  check(): void {
    if (!this.#load.hasRoomForBytes(this.#bytes, 0))
      this.#options.refuse("Too many large messages at once; retry later.");
  }

  /** A ping or pong arrived, which may be between the frames of a message. */
  control(payload: number): void {
    this.#count(-Math.min(this.#bytes, CONTROL_BYTES + payload));
    if (this.#bytes === 0) this.#stop();
  }

  /** A message is complete. @returns its size, which counts until `taken`. */
  complete(): number {
    const bytes = this.#bytes;
    this.#bytes = 0;
    this.#complete += bytes;
    this.#stop();
    return bytes;
  }

  /** A complete message was taken; its request counts it from now on. */
  taken(bytes: number): void {
    this.#complete -= bytes;
    this.#load.bytes.count(-bytes);
  }

  end(): void {
    this.#stop();
    this.#load.bytes.count(-this.#bytes - this.#complete);
    this.#bytes = 0;
    this.#complete = 0;
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    this.#load.bytes.count(bytes);
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  readonly #late = (): void => {
    if (this.#options.isPaused()) this.#timer?.refresh();
    else this.#options.refuse(`A message must arrive within ${this.#options.limitMs / 1_000} s.`);
  };
}
