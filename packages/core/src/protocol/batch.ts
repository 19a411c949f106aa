import type { Outlet } from "./request.ts";

/**
 * The answer to a JSON-RPC batch (MCP 2025-03-26, "Batching"): one array, written once every entry is settled, in
 * the order of the requests. Notifications, responses and cancelled requests have no entry; an answer without
 * entries is not written.
 */
export class Batch {
  readonly #answers: (string | undefined)[];
  readonly #outlet: Outlet;
  #open: number;

  /** @param size how many entries the batch has; each is answered once. */
  constructor(size: number, outlet: Outlet) {
    this.#answers = new Array<string | undefined>(size).fill(undefined);
    this.#open = size;
    this.#outlet = outlet;
  }

  /** The outlet of one entry: only its answer waits for the others. */
  slot(index: number): Outlet {
    return {
      answer: (json) => this.#settle(index, json),
      notify: (method, params) => this.#outlet.notify(method, params),
      ask: (json) => this.#outlet.ask(json),
    };
  }

  #settle(index: number, answer: string | undefined): void {
    this.#answers[index] = answer;
    this.#open -= 1;
    if (this.#open > 0) {
      this.#outlet.answer(undefined);
      return;
    }
    const entries = this.#answers.filter((entry) => entry !== undefined);
    this.#outlet.answer(entries.length === 0 ? undefined : `[${entries.join(",")}]`);
  }
}
