import { internalError, ProtocolError } from "./errors.ts";
import { show } from "./messages.ts";
import type { AskLimit, Sink } from "./request.ts";
import type { RequestId, ResponseMessage } from "./wire.ts";

/** The requests that a server sends to its client, in revisions with a handshake, until each is answered. */
export class ClientQuestions {
  readonly #sink: Sink;
  readonly #dropped: (what: string) => void;
  readonly #open = new Map<
    RequestId,
    { resolve(result: unknown): void; reject(error: Error): void; readonly timer: NodeJS.Timeout }
  >();
  #next = 1;
  /** Why the client can no longer be asked; undefined if it can. */
  #unreachable: string | undefined;

  /** @param sink sends the questions that belong to no request. */
  constructor(sink: Sink, dropped: (what: string) => void) {
    this.#sink = sink;
    this.#dropped = dropped;
  }

  /** How many are not answered yet. */
  get open(): number {
    return this.#open.size;
  }

  /** @throws ProtocolError with the client's error, or -32603 if no answer arrives in time. */
  ask(
    method: string,
    params: object | undefined,
    { timeoutMs, request }: AskLimit,
  ): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const fail = (why: string) => reject(new ProtocolError(internalError(why)));
      const over = "The request that this question belongs to has ended.";
      if (this.#unreachable !== undefined) return fail(this.#unreachable);
      if (request?.isOver === true) return fail(over);
      const id = this.#next++;
      const withdraw = (why: string) => {
        if (this.#settle(id) === undefined) return;
        this.#sink.notify("notifications/cancelled", { requestId: id, reason: why });
        fail(why);
      };
      const late = `The client did not answer within ${timeoutMs / 1000} s.`;
      const timer = setTimeout(() => withdraw(late), timeoutMs);
      this.#open.set(id, { resolve, reject, timer });
      request?.whenAborted(() => withdraw(over));
      (request?.sink ?? this.#sink).ask(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    });
  }

  answered(message: ResponseMessage): void {
    const question = this.#settle(message.id);
    if (question === undefined)
      this.#dropped(`a response with id ${show(message.id)}, because no request was sent with it`);
    else if ("result" in message) question.resolve(message.result);
    else question.reject(new ProtocolError(message.error));
  }

  /**
   * Called when the client closes its end: open questions fail, and the calls that asked continue without an answer.
   */
  clientLeft(): void {
    this.#unreachable = "The client closed the connection before it answered.";
    const error = new ProtocolError(internalError(this.#unreachable));
    for (const id of [...this.#open.keys()]) this.#settle(id)?.reject(error);
  }

  /** The question with this id, which is no longer open; undefined if there is none. */
  #settle(id: RequestId) {
    const question = this.#open.get(id);
    clearTimeout(question?.timer);
    this.#open.delete(id);
    return question;
  }
}
