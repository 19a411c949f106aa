import type { LoggingLevel } from "../define/content.ts";
import { isLoggingLevel } from "../define/content.ts";
import { EraGate } from "./era.ts";
import { errorText, internalError, invalidRequest, ProtocolError } from "./errors.ts";
import { Load } from "./load.ts";
import { asUri, isRequest, isRequestId, readMessage, show } from "./messages.ts";
import { requestProblem } from "./params.ts";
import { parseMessage } from "./parse.ts";
import {
  type AskLimit,
  Batch,
  type Client,
  ClientRequest,
  clientOf,
  type Outlet,
  type Principal,
} from "./request.ts";
import { agreedRevision, MODERN_VERSIONS, type Revision } from "./revisions.ts";
import type { Handler, Service } from "./service.ts";
import { Streams, Watches } from "./subscriptions.ts";
import type {
  ClientCapabilities,
  Message,
  NotificationMessage,
  RequestId,
  RequestMessage,
  ResponseMessage,
  RpcError,
} from "./wire.ts";

export interface ConnectionOptions {
  readonly service: Service;
  /** The default outlet for answers, and for messages that belong to no request. */
  readonly outlet: Outlet;
  /** How many requests may be unanswered before `isHeld`. Default: 1,024. */
  readonly maxInFlight?: number | undefined;
  /** The load of the process; when it is full, new requests are refused. Default: a separate one without limits. */
  readonly load?: Load;
  readonly principal?: Principal | undefined;
  /** Called for each message that was dropped without an answer, with the end of a sentence. */
  readonly dropped: (what: string) => void;
}

/** A request to the client that has not been answered yet. */
interface Question {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** How a message arrived. */
interface Arrival {
  /** Receives the answer. */
  readonly outlet: Outlet;
  readonly bytes: number;
  readonly inBatch: boolean;
  /** Whether its parameters were already checked. */
  readonly isChecked: boolean;
}

/** Limits the size of a batch, since all answers are held until the last one. */
const MAX_BATCH = 1_000;

/**
 * One client's connection: parses its messages, checks each once, runs it and answers it. Every request gets exactly
 * one answer unless it is cancelled; other messages get none. Transports pass messages to `receive` or `take`, and send
 * output through their `Outlet`.
 */
export class Connection implements Client {
  readonly #options: ConnectionOptions;
  readonly #service: Service;
  readonly #outlet: Outlet;
  readonly #maxInFlight: number;
  readonly #load: Load;
  readonly #gate: EraGate;
  readonly #requests = new Map<RequestId, ClientRequest>();
  /** How many of `#requests` count toward the limit. */
  #unanswered = 0;
  readonly #questions = new Map<RequestId, Question>();
  #nextQuestion = 1;
  /** Why the client can no longer be asked; undefined if it can. */
  #silence: string | undefined;
  readonly #watches: Watches;
  readonly #streams: Streams;
  readonly #unlisten: () => void;
  readonly #legacy: ReadonlyMap<string, Handler>;
  readonly #modern: ReadonlyMap<string, Handler>;
  /** The remaining entries of a batch. */
  #batch:
    | { readonly values: IterableIterator<[number, unknown]>; readonly batch: Batch; readonly bytes: number }
    | undefined;
  #declared: ClientCapabilities | undefined;
  #logLevel: LoggingLevel = "debug";
  #isClosed = false;

  constructor(options: ConnectionOptions) {
    const { service, outlet, maxInFlight = 1_024, load = new Load() } = options;
    this.#options = options;
    this.#service = service;
    this.#outlet = outlet;
    this.#maxInFlight = maxInFlight;
    this.#load = load;
    this.#watches = new Watches(service, load.watches, this.#changed);
    this.#streams = new Streams(service, load.streams, this.#watches);
    this.#modern = modernMethods(service, this.#streams);
    this.#legacy = this.#legacyMethods();
    this.#gate = new EraGate((method) => this.#modern.has(method));
    this.#unlisten = service.listen({
      changed: this.#changed,
      resourcesChanged: () => {
        this.#streams.resourcesChanged();
        if (this.#gate.isLegacy) this.#outlet.notify("notifications/resources/list_changed", {});
      },
    });
  }

  get principal(): Principal | undefined {
    return this.#options.principal;
  }

  /** The current revision; undefined until one is agreed on. */
  get revision(): Revision | undefined {
    return this.#gate.revision;
  }

  get capabilities(): ClientCapabilities | undefined {
    return this.#declared;
  }

  get logLevel(): LoggingLevel {
    return this.#logLevel;
  }

  /**
   * Whether to stop reading until something is answered. While calls are waiting for the client, its messages must be
   * read, so new requests are refused instead.
   */
  get isHeld(): boolean {
    return this.#unanswered >= this.#maxInFlight && this.#questions.size === 0;
  }

  /** Whether every request is answered, apart from subscriptions. */
  get isIdle(): boolean {
    return this.#unanswered === 0;
  }

  isPending(id: RequestId): boolean {
    return this.#requests.has(id);
  }

  /** Takes one message or batch as JSON text. The entries of a batch are then taken with `takeEntry`. */
  take(text: string): void {
    const parsed = parseMessage(text);
    if ("error" in parsed) {
      const { id, error } = parsed;
      // An empty line is not a message.
      if (/\S/.test(text)) this.refuse(id === undefined || this.isPending(id) ? undefined : id, error);
    } else if (Array.isArray(parsed.value)) this.#takeBatch(parsed.value, text.length);
    else this.receive(parsed.value, { bytes: text.length });
  }

  /** Takes the next entry of the current batch. @returns whether there was one. */
  takeEntry(): boolean {
    if (this.#batch === undefined) return false;
    const { values, batch, bytes } = this.#batch;
    const entry = values.next();
    if (entry.done === true) {
      this.#batch = undefined;
      return false;
    }
    const [index, value] = entry.value;
    this.receive(value, { outlet: batch.slot(index), bytes, inBatch: true });
    return true;
  }

  #takeBatch(values: readonly unknown[], bytes: number): void {
    const { revision } = this.#gate;
    if (revision?.batches !== true) {
      const now =
        revision === undefined
          ? "before initialize has negotiated a version"
          : `in protocol version ${revision.version}`;
      this.refuse(undefined, invalidRequest(`Batches are not allowed ${now}; send one message per line.`));
    } else if (values.length === 0 || values.length > MAX_BATCH) {
      const size = `A batch must have 1 to ${MAX_BATCH} messages, not ${values.length}.`;
      this.refuse(undefined, invalidRequest(size));
    } else {
      const batch = new Batch(values.length, this.#outlet);
      this.#batch = { values: values.entries(), batch, bytes: bytes / values.length };
    }
  }

  /** Takes one message. */
  receive(
    value: unknown,
    { outlet = this.#outlet, bytes = 0, inBatch = false }: Partial<Arrival> = {},
  ): void {
    if (this.#isClosed) return;
    const incoming = readMessage(value);
    switch (incoming.kind) {
      case "refused":
        this.refuse(incoming.id, incoming.error, outlet);
        return;
      case "dropped":
        this.#options.dropped(incoming.why);
        outlet.answer(undefined);
        return;
      default:
        this.#serve(incoming.message, { outlet, bytes, inBatch, isChecked: false });
    }
  }

  /** Takes a parsed message whose parameters are already checked. */
  accept(message: Message, arrival: Pick<Arrival, "outlet" | "bytes">): void {
    if (!this.#isClosed) this.#serve(message, { ...arrival, inBatch: false, isChecked: true });
  }

  #serve(message: Message, arrival: Arrival): void {
    if (isRequest(message)) {
      this.#request(message, arrival);
      return;
    }
    if ("method" in message) this.#notified(message);
    else this.#answered(message);
    arrival.outlet.answer(undefined);
  }

  /** Answers a message that cannot be processed with an error. */
  refuse(id: RequestId | undefined, error: RpcError, outlet = this.#outlet): void {
    outlet.answer(errorText(id, error, this.#gate.revision), error);
  }

  #request(message: RequestMessage, { outlet, bytes, inBatch, isChecked }: Arrival): void {
    const { id, method } = message;
    const admitted = this.#problem(message, bytes, inBatch) ?? this.#gate.admit(message);
    if ("code" in admitted) {
      this.refuse(id, admitted, outlet);
      return;
    }
    const isLegacy = admitted.era === "legacy";
    const handler = (isLegacy ? this.#legacy : this.#modern).get(method);
    const problem = isChecked || handler === undefined ? undefined : requestProblem(message, admitted.era);
    if (problem !== undefined) {
      this.refuse(id, problem, outlet);
      return;
    }
    const request = new ClientRequest(message, {
      revision: admitted,
      client: isLegacy ? this : clientOf(message, this.principal),
      outlet,
      service: this.#service,
      load: this.#load,
      bytes,
      settled: this.#settled,
    });
    this.#requests.set(id, request);
    if (!request.isSubscription) this.#unanswered += 1;
    request.run(handler);
  }

  #problem({ id, method }: RequestMessage, bytes: number, inBatch: boolean): RpcError | undefined {
    if (this.isPending(id))
      return invalidRequest(`The id ${show(id)} belongs to a request that is still pending.`);
    if (inBatch && method === "initialize") return invalidRequest("initialize must not be part of a batch.");
    if (this.#unanswered < this.#maxInFlight && this.#load.hasRoomFor(1) && this.#load.hasRoomForBytes(bytes))
      return undefined;
    return internalError("Too many requests are pending; retry after a response.");
  }

  readonly #settled = (request: ClientRequest): void => {
    this.#requests.delete(request.id);
    if (!request.isSubscription) this.#unanswered -= 1;
  };

  #notified(message: NotificationMessage): void {
    const { method, params } = message;
    const named = method === "notifications/cancelled" ? params?.requestId : undefined;
    const request = isRequestId(named) ? this.#requests.get(named) : undefined;
    if (!this.#gate.admitsNotification(message, request !== undefined)) {
      this.#options.dropped(`notification ${show(method)}, because no request has opened the connection`);
      return;
    }
    request?.cancel();
    if (this.#gate.isLegacy) this.#service.notified?.(method, this);
  }

  #legacyMethods(): ReadonlyMap<string, Handler> {
    const { identity, icons, instructions, capabilities, methods } = this.#service;
    const can = capabilities("legacy");
    const built: [string, Handler][] = [
      [
        "initialize",
        ({ params }) => {
          const revision = agreedRevision(params.protocolVersion);
          const declared: ClientCapabilities = Object(params.capabilities);
          this.#declared = declared;
          this.#gate.negotiated(revision);
          const { version: protocolVersion } = revision;
          const shown = capabilities("legacy", declared);
          const serverInfo = revision.icons ? { ...identity, icons } : identity;
          return { protocolVersion, capabilities: shown, serverInfo, instructions };
        },
      ],
      ["ping", () => ({})],
    ];
    if (can.logging !== undefined)
      built.push([
        "logging/setLevel",
        ({ params }) => {
          if (isLoggingLevel(params.level)) this.#logLevel = params.level;
          return {};
        },
      ]);
    if (can.resources?.subscribe === true)
      built.push(
        ["resources/subscribe", (request) => this.#subscribe(request)],
        ["resources/unsubscribe", (request) => this.#unsubscribe(request)],
      );
    return new Map([...methods, ...built]);
  }

  async #subscribe(request: ClientRequest): Promise<object> {
    const uri = asUri(String(request.params.uri));
    await this.#watches.ensure(uri, request);
    return {};
  }

  async #unsubscribe({ params }: ClientRequest): Promise<object> {
    await this.#watches.remove(asUri(String(params.uri)));
    return {};
  }

  readonly #changed = (changed: string): void => {
    const uri = asUri(changed);
    this.#streams.changed(uri);
    if (this.#gate.isLegacy && this.#watches.has(uri))
      this.#outlet.notify("notifications/resources/updated", { uri });
  };

  /**
   * Sends a request to the client (legacy era), and resolves with its result.
   *
   * @throws ProtocolError with the client's error, or -32603 if no answer arrives in time.
   */
  ask(method: string, params: object | undefined, { timeoutMs, request }: AskLimit): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const id = this.#nextQuestion;
      this.#nextQuestion += 1;
      const fail = (why: string) => new ProtocolError(internalError(why));
      if (this.#silence !== undefined) return reject(fail(this.#silence));
      if (request?.isOver === true)
        return reject(fail("The request that this question belongs to has ended."));
      const outlet = request?.outlet ?? this.#outlet;
      const takeBack = (why: string) => {
        if (!this.#questions.delete(id)) return;
        clearTimeout(timer);
        this.#outlet.notify("notifications/cancelled", { requestId: id, reason: why });
        reject(fail(why));
      };
      const timer = setTimeout(
        () => takeBack(`The client did not answer within ${timeoutMs / 1000} s.`),
        timeoutMs,
      );
      const settle =
        <Value>(end: (value: Value) => void) =>
        (value: Value) => {
          clearTimeout(timer);
          end(value);
        };
      this.#questions.set(id, { resolve: settle(resolve), reject: settle(reject) });
      request?.whenAborted(() => takeBack("The request that this question belongs to has ended."));
      outlet.ask(JSON.stringify({ jsonrpc: "2.0", id, method, ...(params === undefined ? {} : { params }) }));
    });
  }

  #answered(message: ResponseMessage): void {
    const question = this.#questions.get(message.id);
    if (question === undefined) {
      this.#options.dropped(`a response with id ${show(message.id)}, because no request was sent with it`);
      return;
    }
    this.#questions.delete(message.id);
    if ("result" in message) question.resolve(message.result);
    else question.reject(new ProtocolError(message.error));
  }

  /**
   * Called when the client closes its end: open questions fail, and the calls that asked continue without an answer.
   */
  clientLeft(): void {
    this.#silence = "The client closed the connection before it answered.";
    const error = new ProtocolError(internalError(this.#silence));
    for (const question of this.#questions.values()) question.reject(error);
    this.#questions.clear();
  }

  /** Ends pending requests with an error and streams with a result, and stops watching. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#unlisten();
    this.#streams.close();
    const error = internalError("The server closed before this request was finished.");
    for (const request of [...this.#requests.values()]) request.abort(error);
    // Entries of a batch that were not taken get no answer, so that the others can be sent.
    for (const [index] of this.#batch?.values ?? []) this.#batch?.batch.slot(index).answer(undefined);
    this.clientLeft();
    await this.#watches.close();
  }
}

/** The methods of the modern era: those of the service, discovery and subscriptions. */
export function modernMethods(service: Service, streams: Streams): ReadonlyMap<string, Handler> {
  const { instructions, capabilities, methods } = service;
  const discovered = {
    supportedVersions: MODERN_VERSIONS,
    instructions,
  };
  return new Map<string, Handler>([
    ...methods,
    [
      "server/discover",
      ({ client }) => ({ ...discovered, capabilities: capabilities("modern", client.capabilities) }),
    ],
    ["subscriptions/listen", (request) => streams.open(request)],
  ]);
}
