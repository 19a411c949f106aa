/**
 * The answer to a JSON-RPC batch (MCP 2025-03-26, "Batching"): one array, written once every entry is settled, in
 * the order of the requests. Notifications, responses and cancelled requests have no entry; an answer without
 * entries is not written.
 */
export class Batch {
  readonly #answers: (string | undefined)[];
  readonly #write: (json: string) => void;
  #open: number;

  /** @param size how many entries the batch has; each is settled once. */
  constructor(size: number, write: (json: string) => void) {
    this.#answers = new Array<string | undefined>(size).fill(undefined);
    this.#open = size;
    this.#write = write;
  }

  /** @param answer the entry's response as JSON text, where it gets one. */
  settle(index: number, answer?: string): void {
    this.#answers[index] = answer;
    this.#open -= 1;
    if (this.#open > 0) return;
    const entries = this.#answers.filter((entry) => entry !== undefined);
    if (entries.length > 0) this.#write(`[${entries.join(",")}]`);
  }
}
