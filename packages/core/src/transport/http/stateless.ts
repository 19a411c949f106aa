import { modernMethods } from "../../protocol/connection.ts";
import { internalError } from "../../protocol/errors.ts";
import type { Load } from "../../protocol/load.ts";
import { asUri } from "../../protocol/messages.ts";
import { ClientRequest, clientOf, type Outlet, type Principal } from "../../protocol/request.ts";
import { revisionOf } from "../../protocol/revisions.ts";
import type { Handler, Service } from "../../protocol/service.ts";
import { Streams, Watches } from "../../protocol/subscriptions.ts";
import { CODES, META, type RequestMessage, type RpcError } from "../../protocol/wire.ts";
import { whenExpired } from "./auth.ts";
import { type Reply, textAnswer } from "./reply.ts";

/** Serves the modern era: every request is independent, and all share one service. */
export class StatelessEndpoint {
  readonly #service: Service;
  readonly #load: Load;
  readonly #methods: ReadonlyMap<string, Handler>;
  readonly #watches: Watches;
  readonly #streams: Streams;
  readonly #running = new Set<ClientRequest>();
  readonly #unlisten: () => void;

  constructor(service: Service, load: Load) {
    this.#service = service;
    this.#load = load;
    const changed = (uri: string) => this.#streams.changed(asUri(uri));
    this.#watches = new Watches(service, load.watches, changed);
    this.#streams = new Streams(service, load.streams, this.#watches);
    this.#methods = modernMethods(service, this.#streams);
    this.#unlisten = service.listen({ changed, resourcesChanged: () => this.#streams.resourcesChanged() });
  }

  /** Runs a request whose headers, envelope and parameters are checked, and answers it through `reply`. */
  serve(message: RequestMessage, bytes: number, reply: Reply, principal: Principal): void {
    const request = new ClientRequest(message, {
      revision: revisionOf(String(message.params?._meta?.[META.version])),
      client: clientOf(message, principal),
      outlet: outletOf(reply),
      service: this.#service,
      load: this.#load,
      bytes,
      settled: (one) => this.#running.delete(one),
    });
    this.#running.add(request);
    reply.whenClosed(() => request.cancel());
    if (request.isSubscription) whenExpired(principal, reply, () => this.#streams.end(request));
    request.run(this.#methods.get(message.method));
  }

  /** Ends all streams with a result, and running requests with an error. */
  async close(): Promise<void> {
    this.#unlisten();
    this.#streams.close();
    const error = internalError("The server closed before this request was finished.");
    for (const request of [...this.#running]) request.abort(error);
    await this.#watches.close();
  }
}

/** Answers with JSON, or with a stream of events if anything is sent before the answer. */
function outletOf(reply: Reply): Outlet {
  return {
    answer(json, error) {
      if (json === undefined) return;
      if (!reply.isStream) return reply.send(textAnswer(statusOf(error), json));
      reply.event(json);
      reply.end();
    },
    notify(method, params) {
      reply.openStream();
      reply.event(JSON.stringify({ jsonrpc: "2.0", method, params }));
    },
    ask() {
      throw new TypeError("this protocol revision has no requests from the server");
    },
  };
}

/** Most errors have status 200; these two have their own (MCP 2026-07-28, "Streamable HTTP"). */
function statusOf(error: RpcError | undefined): number {
  if (error?.code === CODES.methodNotFound) return 404;
  return error?.code === CODES.missingClientCapability ? 400 : 200;
}
