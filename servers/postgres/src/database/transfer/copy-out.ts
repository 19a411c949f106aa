import type { Connection, Submittable } from "pg";

/** Above this many unwritten bytes the socket is paused. */
const HIGH_BYTES = 4 * 1_048_576;

interface Settle {
  resolve(rows: number): void;
  reject(error: unknown): void;
}

/**
 * Runs COPY … TO STDOUT over the extended protocol and passes on its bytes, with backpressure.
 */
export class CopyOut implements Submittable {
  /** Resolves with the number of rows when every byte was consumed. */
  readonly done: Promise<number>;
  readonly #text: string;
  readonly #take: (chunk: Buffer) => Promise<void>;
  #connection: Connection | undefined;
  #queue: Promise<void> = Promise.resolve();
  #waiting = 0;
  #rows = 0;
  #failure: unknown;
  #settle: Settle = { resolve: () => undefined, reject: () => undefined };

  constructor(text: string, take: (chunk: Buffer) => Promise<void>) {
    this.#text = text;
    this.#take = take;
    this.done = new Promise<number>((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
  }

  submit(connection: Connection): void {
    this.#connection = connection;
    connection.parse({ name: "", text: this.#text, types: [] }, true);
    connection.bind({ portal: "", statement: "", values: [] }, true);
    connection.execute({ portal: "" }, true);
    connection.sync();
  }

  handleCopyData({ chunk }: { chunk: Buffer }): void {
    if (this.#failure !== undefined) return;
    this.#waiting += chunk.length;
    if (this.#waiting > HIGH_BYTES) this.#connection?.stream.pause();
    // The parser reuses its buffer.
    const own = Buffer.from(chunk);
    this.#queue = this.#queue.then(async () => {
      if (this.#failure === undefined) await this.#take(own);
      this.#waiting -= own.length;
      if (this.#waiting <= HIGH_BYTES) this.#connection?.stream.resume();
    });
    this.#queue.catch((error: unknown) => {
      // The disk is full, for example: the rest is useless.
      this.#failure ??= error;
      this.#connection?.stream.destroy();
    });
  }

  handleCommandComplete({ text }: { text: string }): void {
    this.#rows = Number(/(\d+)$/.exec(text)?.[1] ?? 0);
  }

  handleReadyForQuery(): void {
    this.#queue.then(
      () => this.#settle.resolve(this.#rows),
      (error: unknown) => this.#settle.reject(error),
    );
  }

  handleError(error: unknown): void {
    // The Sync that was already sent ends the failed statement.
    this.#failure ??= error;
    this.#settle.reject(this.#failure);
  }

  handleRowDescription(): void {}
  handleDataRow(): void {}
  handlePortalSuspended(): void {}
  handleEmptyQuery(): void {}
}
