import { isLoggingLevel, LOGGING_LEVELS, type LoggingLevel } from "../define/content.ts";
import { ClientQuestions } from "./client-questions.ts";
import { errorText, internalError, invalidRequest } from "./errors.ts";
import { Load } from "./load.ts";
import { asUri, isRequest, isRequestId, parseMessage, readMessage, show } from "./messages.ts";
import { requestProblem } from "./params.ts";
import {
  type AskLimit,
  type Client,
  ClientRequest,
  type Handler,
  missingScope,
  type Principal,
  type RequestParts,
  type Service,
  type Sink,
} from "./request.ts";
import { agreedRevision, EraGate, MODERN_VERSIONS, type Revision } from "./revisions.ts";
import { Streams, Watches } from "./subscriptions.ts";
import {
  type ClientCapabilities,
  META,
  type Message,
  type NotificationMessage,
  type RequestId,
  type RequestMessage,
  type RpcError,
  type ServerCapabilities,
} from "./wire.ts";

export interface ConnectionOptions {
  readonly service: Service;
  /** Where answers go by default, and messages that belong to no request. */
  readonly sink: Sink;
  /** How many requests may be unanswered before `isHeld`. Default: 1,024. */
  readonly maxInFlight?: number | undefined;
  /** The load of the process; when it is full, new requests are refused. Default: a separate one without limits. */
  readonly load?: Load;
  readonly principal?: Principal | undefined;
  /** Called for each message that was dropped without an answer, with the end of a sentence. Default: logs it. */
  readonly dropped?: (what: string) => void;
}

interface Receipt {
  readonly sink: Sink;
  readonly bytes: number;
  readonly isInBatch?: boolean;
  /** Whether its parameters were already checked. */
  readonly isChecked?: boolean;
}

/** Limits the size of a batch, since all answers are held until the last one. */
const MAX_BATCH = 1_000;

/**
 * Owns the requests of one client, or of all stateless clients of a process: parses messages, checks each once, runs it
 * and answers it. Every request gets exactly one answer unless it is cancelled; other messages get none.
 */
export class Connection implements Client {
  readonly #options: ConnectionOptions;
  readonly #service: Service;
  readonly #sink: Sink;
  readonly #dropped: (what: string) => void;
  readonly #maxInFlight: number;
  readonly #load: Load;
  readonly #gate: EraGate;
  /** All that are not over: by id or, for stateless clients, whose ids may be the same, by a unique symbol. */
  readonly #requests = new Map<RequestId | symbol, ClientRequest>();
  /** How many of `#requests` count toward the limit. */
  #unanswered = 0;
  readonly #questions: ClientQuestions;
  readonly #watches: Watches;
  readonly #streams: Streams;
  readonly #unlisten: () => void;
  readonly #legacy: ReadonlyMap<string, Handler>;
  readonly #modern: ReadonlyMap<string, Handler>;
  /** The methods of legacy revisions that have no tasks. */
  readonly #withoutTasks: ReadonlyMap<string, Handler>;
  /** The methods of legacy clients without a session. */
  readonly #sessionless: ReadonlyMap<string, Handler>;
  #batch:
    | {
        readonly entries: IterableIterator<unknown>;
        readonly nextSink: () => Sink;
        readonly bytes: number;
      }
    | undefined;
  #isClosed = false;
  capabilities: ClientCapabilities | undefined;
  logLevel: LoggingLevel = "debug";

  constructor(options: ConnectionOptions) {
    const { service, sink, maxInFlight = 1_024, load = new Load() } = options;
    this.#options = options;
    this.#service = service;
    this.#sink = sink;
    this.#dropped = options.dropped ?? ((what) => service.log.debug(`Dropped ${what}.`));
    this.#maxInFlight = maxInFlight;
    this.#load = load;
    this.#questions = new ClientQuestions(sink, this.#dropped);
    this.#watches = new Watches(service, load.watches, this.#changed);
    this.#streams = new Streams(service, load.streams, this.#watches);
    this.#modern = new Map([...service.methods, ...Object.entries(this.#modernMethods())]);
    this.#withoutTasks = new Map([...service.methods, ...Object.entries(this.#legacyMethods())]);
    const tasks = service.tasks.methods("legacy", this.#isIdentified);
    this.#legacy = new Map([...this.#withoutTasks, ...Object.entries(tasks)]);
    this.#sessionless = new Map([
      ...service.methods,
      ...Object.entries(this.#sessionlessMethods()),
    ]);
    this.#gate = new EraGate((method) => this.#modern.has(method));
    this.#unlisten = service.listen({
      changed: this.#changed,
      resourcesChanged: () => {
        this.#streams.resourcesChanged();
        if (this.#gate.isLegacy) this.#sink.notify("notifications/resources/list_changed", {});
      },
    });
  }

  get principal(): Principal | undefined {
    return this.#options.principal;
  }

  /** Whether its caller is known. Others must not find each other's tasks (MCP 2025-11-25, "Tasks: security"). */
  get #isIdentified(): boolean {
    return this.principal === undefined || this.principal.owner !== "";
  }

  get revision(): Revision | undefined {
    return this.#gate.revision;
  }

  /**
   * Whether to stop reading until something is answered. While calls are waiting for the client, its messages must be
   * read, so new requests are refused instead.
   */
  get isHeld(): boolean {
    return this.#unanswered >= this.#maxInFlight && this.#questions.open === 0;
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
      if (/\S/.test(text))
        this.refuse(id === undefined || this.isPending(id) ? undefined : id, error);
    } else if (Array.isArray(parsed.value)) this.#takeBatch(parsed.value, text.length);
    else this.receive(parsed.value, { sink: this.#sink, bytes: text.length });
  }

  #takeBatch(values: readonly unknown[], bytes: number): void {
    const { revision } = this.#gate;
    if (revision?.batches !== true) {
      const now =
        revision === undefined
          ? "before initialize has negotiated a version"
          : `in protocol version ${revision.version}`;
      this.refuse(
        undefined,
        invalidRequest(`Batches are not allowed ${now}; send one message per line.`),
      );
    } else if (values.length === 0 || values.length > MAX_BATCH) {
      const size = `A batch must have 1 to ${MAX_BATCH} messages, not ${values.length}.`;
      this.refuse(undefined, invalidRequest(size));
    } else {
      const nextSink = batchSinks(values.length, this.#sink);
      this.#batch = { entries: values.values(), nextSink, bytes: Math.ceil(bytes / values.length) };
    }
  }

  /** Takes the next entry of the current batch. @returns whether there was one. */
  takeEntry(): boolean {
    if (this.#batch === undefined) return false;
    const { entries, nextSink, bytes } = this.#batch;
    const { value, done } = entries.next();
    if (done !== true) this.receive(value, { sink: nextSink(), bytes, isInBatch: true });
    else this.#batch = undefined;
    return done !== true;
  }

  receive(value: unknown, receipt: Receipt = { sink: this.#sink, bytes: 0 }): void {
    if (this.#isClosed) return;
    const incoming = readMessage(value);
    if (incoming.kind === "refused") this.refuse(incoming.id, incoming.error, receipt.sink);
    else if (incoming.kind === "dropped") {
      this.#dropped(incoming.why);
      receipt.sink.answer(undefined);
    } else this.#serve(incoming.message, receipt);
  }

  /** Takes a parsed message whose parameters are already checked. */
  accept(message: Message, sink: Sink, bytes: number): void {
    if (!this.#isClosed) this.#serve(message, { sink, bytes, isChecked: true });
  }

  /**
   * Takes a request of a stateless client, whose version, headers and parameters are already checked. A legacy client
   * without a session can neither be asked nor told anything but the answer.
   */
  acceptStateless(
    message: RequestMessage,
    {
      revision,
      sink,
      bytes,
      principal,
    }: Pick<RequestParts, "revision" | "sink" | "bytes"> & {
      readonly principal: Principal;
    },
  ): ClientRequest {
    const isModern = revision.era === "modern";
    const client: Client = isModern
      ? clientOf(message, principal)
      : { capabilities: undefined, logLevel: "none", principal };
    const methods = isModern ? this.#modern : this.#sessionless;
    return this.#run(Symbol(message.method), message, { revision, client, sink, bytes }, methods);
  }

  #serve(message: Message, receipt: Receipt): void {
    if (isRequest(message)) this.#request(message, receipt);
    else {
      if ("method" in message) this.#notified(message);
      else this.#questions.answered(message);
      receipt.sink.answer(undefined);
    }
  }

  /** Answers a message that cannot be processed with an error. */
  refuse(id: RequestId | undefined, error: RpcError, sink = this.#sink): void {
    sink.answer(errorText(id, error, this.#gate.revision), error);
  }

  #request(message: RequestMessage, { sink, bytes, isInBatch, isChecked }: Receipt): void {
    const { id, method } = message;
    const admitted =
      this.#problem(message, bytes, isInBatch) ??
      (isChecked === true ? undefined : this.#callerProblem(message)) ??
      this.#gate.admit(message);
    if ("code" in admitted) {
      this.refuse(id, admitted, sink);
      return;
    }
    const isLegacy = admitted.era === "legacy";
    const legacy = admitted.taskParameter ? this.#legacy : this.#withoutTasks;
    const methods = isLegacy ? legacy : this.#modern;
    const problem =
      isChecked === true || !methods.has(method)
        ? undefined
        : requestProblem(message, admitted.era);
    const client = isLegacy ? this : clientOf(message, this.principal);
    if (problem === undefined)
      this.#run(id, message, { revision: admitted, client, sink, bytes }, methods);
    else this.refuse(id, problem, sink);
  }

  #run(
    key: RequestId | symbol,
    message: RequestMessage,
    { revision, client, sink, bytes }: Pick<RequestParts, "revision" | "client" | "sink" | "bytes">,
    methods: ReadonlyMap<string, Handler>,
  ): ClientRequest {
    // Copied with `...`, they would cost a quarter of a small call's processor time.
    const request = new ClientRequest(message, {
      revision,
      client,
      sink,
      bytes,
      service: this.#service,
      load: this.#load,
      settled: () => {
        this.#requests.delete(key);
        if (!request.isSubscription) this.#unanswered -= 1;
      },
    });
    this.#requests.set(key, request);
    if (!request.isSubscription) this.#unanswered += 1;
    request.run(methods.get(message.method));
    return request;
  }

  #problem({ id, method }: RequestMessage, bytes: number, isInBatch = false): RpcError | undefined {
    if (this.isPending(id))
      return invalidRequest(`The id ${show(id)} belongs to a request that is still pending.`);
    if (isInBatch && method === "initialize")
      return invalidRequest("initialize must not be part of a batch.");
    const owner = this.principal?.owner ?? "";
    const isFree = this.#unanswered < this.#maxInFlight && this.#load.requests.hasRoom(owner);
    if (isFree && this.#load.hasRoomForBytes(bytes)) return undefined;
    return internalError("Too many requests are pending; retry after a response.");
  }

  /** Over HTTP, the endpoint has already checked this. */
  #callerProblem(message: RequestMessage): RpcError | undefined {
    const scope = missingScope(this.#service, this.principal, message);
    if (scope !== undefined) return invalidRequest(`The token lacks the scope ${scope}.`);
    const seconds = this.#load.rates.retryAfter(this.principal?.owner ?? "");
    return seconds > 0 ? internalError(`Too many requests; retry after ${seconds} s.`) : undefined;
  }

  #notified(message: NotificationMessage): void {
    const { method, params } = message;
    const named = method === "notifications/cancelled" ? params?.requestId : undefined;
    const request = isRequestId(named) ? this.#requests.get(named) : undefined;
    if (!this.#gate.admitsNotification(message, request !== undefined)) {
      this.#dropped(`notification ${show(method)}, because no request has opened the connection`);
      return;
    }
    request?.abort();
    if (this.#gate.isLegacy) this.#service.notified?.(method, this);
  }

  #modernMethods(): Readonly<Record<string, Handler>> {
    const { instructions, capabilities } = this.#service;
    return {
      "server/discover": ({ client }) => ({
        supportedVersions: MODERN_VERSIONS,
        instructions,
        capabilities: capabilities("modern", client.capabilities),
      }),
      "subscriptions/listen": (request) => this.#streams.open(request),
      ...this.#service.tasks.methods("modern", true),
    };
  }

  #legacyMethods(): Readonly<Record<string, Handler>> {
    const { capabilities } = this.#service;
    const { logging, resources } = capabilities("legacy");
    return {
      initialize: ({ params }) => {
        const revision = agreedRevision(params.protocolVersion);
        const declared: ClientCapabilities = Object(params.capabilities);
        this.capabilities = declared;
        this.#gate.negotiated(revision);
        const tasks = {
          cancel: {},
          requests: { tools: { call: {} } },
          ...(this.#isIdentified && { list: {} }),
        };
        const own = capabilities("legacy", declared);
        return this.#greeting(revision, revision.taskParameter ? { ...own, tasks } : own);
      },
      ping: () => ({}),
      ...(logging !== undefined && {
        "logging/setLevel": ({ params: { level } }: ClientRequest) => {
          if (isLoggingLevel(level)) this.logLevel = level;
          return {};
        },
      }),
      ...(resources?.subscribe === true && {
        "resources/subscribe": async (request: ClientRequest) => {
          await this.#watches.ensure(asUri(String(request.params.uri)), request);
          return {};
        },
        "resources/unsubscribe": async ({ params }: ClientRequest) => {
          await this.#watches.remove(asUri(String(params.uri)));
          return {};
        },
      }),
    };
  }

  #sessionlessMethods(): Readonly<Record<string, Handler>> {
    return {
      initialize: ({ params }) => {
        const { logging: _, resources, ...others } = this.#service.capabilities("legacy");
        const capabilities = resources === undefined ? others : { ...others, resources: {} };
        return this.#greeting(agreedRevision(params.protocolVersion), capabilities);
      },
      ping: () => ({}),
    };
  }

  /** The result of `initialize`. */
  #greeting({ version, icons: hasIcons }: Revision, capabilities: ServerCapabilities): object {
    const { identity, icons, instructions } = this.#service;
    const serverInfo = hasIcons ? { ...identity, icons } : identity;
    return { protocolVersion: version, capabilities, serverInfo, instructions };
  }

  readonly #changed = (changed: string): void => {
    const uri = asUri(changed);
    this.#streams.changed(uri);
    if (this.#gate.isLegacy && this.#watches.has(uri))
      this.#sink.notify("notifications/resources/updated", { uri });
  };

  endStream(request: ClientRequest): void {
    this.#streams.end(request);
  }

  ask(method: string, params: object | undefined, limit: AskLimit): Promise<unknown> {
    return this.#questions.ask(method, params, limit);
  }

  clientLeft(): void {
    this.#questions.clientLeft();
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
    for (const _ of this.#batch?.entries ?? []) this.#batch?.nextSink().answer(undefined);
    this.clientLeft();
    await this.#watches.close();
  }
}

/** The client of a modern request, from its envelope, which is already checked. */
function clientOf({ params }: RequestMessage, principal: Principal | undefined): Client {
  const meta: Readonly<Record<string, unknown>> = params?._meta ?? {};
  const level = LOGGING_LEVELS.find((one) => one === meta[META.logLevel]);
  return { capabilities: Object(meta[META.capabilities]), logLevel: level ?? "none", principal };
}

/**
 * The sinks of a batch's entries, in order. The answer (MCP 2025-03-26, "Batching") is one array in the order of the
 * requests, sent once every entry is settled. Notifications, responses and cancelled requests have no entry in it; an
 * empty answer is not sent.
 */
function batchSinks(size: number, sink: Sink): () => Sink {
  const answers: (string | undefined)[] = [];
  let open = size;
  let taken = 0;
  return () => {
    const index = taken++;
    return {
      ...sink,
      answer(json) {
        answers[index] = json;
        open -= 1;
        const entries = open > 0 ? [] : answers.filter((entry) => entry !== undefined);
        sink.answer(entries.length === 0 ? undefined : `[${entries.join(",")}]`);
      },
    };
  };
}
