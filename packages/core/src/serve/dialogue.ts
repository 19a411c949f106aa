import {
  type JSONRPCMessage,
  type JSONRPCNotification,
  type JSONRPCRequest,
  type JSONRPCResponse,
  ProtocolErrorCode,
  type RequestId,
} from "@modelcontextprotocol/server";
import { Batch } from "./batch.ts";
import { EraGate } from "./era-gate.ts";
import {
  errorText,
  internalError,
  invalidParams,
  invalidRequest,
  isRequestId,
  type RpcError,
  readMessage,
  recoverId,
  show,
} from "./jsonrpc.ts";
import type { Line } from "./lines.ts";
import { dropNulls, paramProblem, withoutDump } from "./params.ts";

export interface DialogueOptions {
  readonly maxLineBytes: number;
  readonly maxInFlight: number;
  /** Passes a message on to the SDK. */
  readonly deliver: (message: JSONRPCMessage) => void;
  /** Writes one line of JSON to the client. */
  readonly write: (json: string) => void;
  /** Takes what was dropped without an answer, as the rest of a sentence. */
  readonly dropped: (what: string) => void;
  readonly onerror: (error: Error) => void;
}

/** All answers to a batch are held until the last: their number must be bounded. */
const MOST_ENTRIES = 1000;

/** A request that the SDK has and has not answered. */
interface Pending {
  /** `subscriptions/listen` stays open until it is cancelled and counts for no limit. */
  readonly counts: boolean;
  readonly slot: Slot | undefined;
}

/** The place of a message in a batch. */
interface Slot {
  readonly batch: Batch;
  readonly index: number;
}

/**
 * The JSON-RPC side of a connection: what goes on to the SDK, what is refused, and which answer belongs to what.
 * Every request gets exactly one answer, unless it is cancelled; nothing else gets any.
 */
export class Dialogue {
  readonly #options: DialogueOptions;
  readonly #gate = new EraGate();
  readonly #pending = new Map<RequestId, Pending>();
  /** How many of `#pending` count. */
  #unanswered = 0;
  /** The server's own questions to a legacy client. */
  readonly #questions = new Set<RequestId>();
  /** What is left of a batch. */
  #batch: { readonly values: Iterator<[number, unknown]>; readonly batch: Batch } | undefined;
  #handshake: RequestId | undefined;

  constructor(options: DialogueOptions) {
    this.#options = options;
  }

  /** `initialize` agreed on this revision. */
  negotiated(version: string): void {
    this.#gate.negotiated(version);
  }

  /**
   * Whether no further message may be taken until something is answered. What follows `initialize` depends on
   * its outcome. While calls wait for the client, its messages must be read: then new requests are refused.
   */
  get isHeld(): boolean {
    const full = this.#unanswered >= this.#options.maxInFlight;
    return this.#handshake !== undefined || (full && this.#questions.size === 0);
  }

  get isIdle(): boolean {
    return this.#unanswered === 0;
  }

  isPending(id: RequestId): boolean {
    return this.#pending.has(id);
  }

  /** Takes the next entry of the batch under way. @returns whether there was one. */
  takeEntry(): boolean {
    if (this.#batch === undefined) return false;
    const { values, batch } = this.#batch;
    const entry = values.next();
    if (entry.done === true) {
      this.#batch = undefined;
      return false;
    }
    const [index, value] = entry.value;
    this.#takeValue(value, { batch, index });
    return true;
  }

  /** Takes a line; of a batch only its frame, its entries come by `takeEntry`. */
  takeLine(line: Line): void {
    if (line.kind === "too-long") {
      const limit = `A message may have at most ${this.#options.maxLineBytes} bytes; this one was skipped.`;
      const id = recoverId(line.start, line.end);
      this.#refuse(id !== undefined && this.isPending(id) ? undefined : id, invalidRequest(limit));
      return;
    }
    if (line.kind === "not-utf8") {
      this.#refuse(undefined, parseError("it is not valid UTF-8"));
      return;
    }
    let value: unknown;
    try {
      value = JSON.parse(line.text);
    } catch (error) {
      // An empty line separates nothing and is no message.
      if (/\S/.test(line.text))
        this.#refuse(undefined, parseError(error instanceof Error ? error.message : "?"));
      return;
    }
    if (Array.isArray(value)) this.#takeBatch(value);
    else this.#takeValue(value);
  }

  #takeBatch(values: readonly unknown[]): void {
    const { version } = this.#gate;
    if (version !== "2025-03-26") {
      const now =
        version === undefined ? "before initialize agreed on a version" : `in protocol version ${version}`;
      this.#refuse(undefined, invalidRequest(`Batches are not allowed ${now}; send one message per line.`));
    } else if (values.length === 0 || values.length > MOST_ENTRIES) {
      const size = `A batch must have from 1 to ${MOST_ENTRIES} messages, not ${values.length}.`;
      this.#refuse(undefined, invalidRequest(size));
    } else {
      this.#batch = { values: values.entries(), batch: new Batch(values.length, this.#options.write) };
    }
  }

  #takeValue(value: unknown, slot?: Slot): void {
    const incoming = readMessage(value);
    switch (incoming.kind) {
      case "refused":
        this.#refuse(incoming.id, incoming.error, slot);
        return;
      case "request":
        this.#takeRequest(incoming.message, slot);
        return;
      case "notification":
        this.#takeNotification(incoming.message);
        break;
      case "response":
        // The SDK would take "1" for 1, and would log the whole of an unknown response.
        if (this.#questions.delete(incoming.id)) this.#options.deliver(incoming.message);
        else
          this.#options.dropped(`a response with id ${show(incoming.id)}, because nothing was asked with it`);
        break;
      case "dropped":
        this.#options.dropped(incoming.why);
    }
    slot?.batch.settle(slot.index);
  }

  #takeRequest(message: JSONRPCRequest, slot: Slot | undefined): void {
    const { id, method } = message;
    const error = this.#requestProblem(message, slot !== undefined);
    if (error !== undefined) {
      this.#refuse(id, error, slot);
      return;
    }
    const counts = method !== "subscriptions/listen";
    this.#pending.set(id, { counts, slot });
    if (counts) this.#unanswered += 1;
    if (method === "initialize") this.#handshake = id;
    this.#options.deliver(message);
  }

  #requestProblem(message: JSONRPCRequest, inBatch: boolean): RpcError | undefined {
    const { id, method, params } = message;
    if (this.isPending(id))
      return invalidRequest(`The id ${show(id)} belongs to a request that is not answered yet.`);
    if (inBatch && method === "initialize") return invalidRequest("initialize must not be part of a batch.");
    if (this.#unanswered >= this.#options.maxInFlight) {
      return internalError(
        `${this.#unanswered} requests are unanswered; send this one again after an answer.`,
      );
    }
    const refusal = this.#gate.request(message);
    if (refusal !== undefined) return refusal;
    dropNulls(method, params, this.#gate.era);
    const problem = paramProblem(method, params, this.#gate.era);
    return problem === undefined ? undefined : invalidParams(problem);
  }

  #takeNotification(message: JSONRPCNotification): void {
    const named = message.method === "notifications/cancelled" ? message.params?.requestId : undefined;
    const id = isRequestId(named) ? named : undefined;
    const pending = id === undefined ? undefined : this.#pending.get(id);
    const allowed = this.#gate.notification(message, pending !== undefined);
    if (allowed === undefined) {
      this.#options.dropped(
        `notification ${show(message.method)}, because no request has opened the connection for it`,
      );
      return;
    }
    this.#options.deliver(allowed);
    if (id === undefined || pending === undefined) return;
    this.#settle(id, pending);
    pending.slot?.batch.settle(pending.slot.index);
  }

  /** Writes the SDK's answer to a request, once: a cancelled or unknown one gets none. */
  answer(message: JSONRPCResponse): void {
    const { id } = message;
    const pending = id === undefined ? undefined : this.#pending.get(id);
    if (id === undefined || pending === undefined) return;
    this.#settle(id, pending);
    if ("error" in message) {
      this.#refuse(id, withoutDump(message.error), pending.slot);
      return;
    }
    let json: string;
    try {
      json = JSON.stringify(message);
    } catch (error) {
      // For example a value that is nested too deeply, a BigInt or a cycle.
      this.#options.onerror(error instanceof Error ? error : new Error(String(error)));
      json = errorText(id, internalError("The answer cannot be written as JSON."), this.#gate.version);
    }
    this.#write(json, pending.slot);
  }

  /** The server asks the client; its answer with this id will be passed on. */
  ask(id: RequestId): void {
    this.#questions.add(id);
  }

  /** The server takes a question back. */
  unask(id: RequestId): void {
    this.#questions.delete(id);
  }

  /** Answers a question for a client that is gone, so that a call that asked can go on. */
  answerForClient(id: RequestId): void {
    this.#questions.delete(id);
    this.#options.deliver({
      jsonrpc: "2.0",
      id,
      error: internalError("The client closed its end before it answered."),
    });
  }

  /** No answer of the client will come any more. */
  answerAllForClient(): void {
    for (const id of [...this.#questions]) this.answerForClient(id);
  }

  /** Refuses all that is unanswered, since the connection closes. */
  abandon(): void {
    const error = internalError("The server closed before this request was finished.");
    for (const [id, { slot }] of this.#pending) this.#refuse(id, error, slot);
    this.#pending.clear();
    this.#unanswered = 0;
    this.#batch = undefined;
  }

  #settle(id: RequestId, pending: Pending): void {
    this.#pending.delete(id);
    if (pending.counts) this.#unanswered -= 1;
    if (this.#handshake === id) this.#handshake = undefined;
  }

  #refuse(id: RequestId | undefined, error: RpcError, slot?: Slot): void {
    this.#write(errorText(id, error, this.#gate.version), slot);
  }

  #write(json: string, slot: Slot | undefined): void {
    if (slot === undefined) this.#options.write(json);
    else slot.batch.settle(slot.index, json);
  }
}

function parseError(why: string): RpcError {
  return { code: ProtocolErrorCode.ParseError, message: `The line is not JSON: ${why.slice(0, 200)}.` };
}
