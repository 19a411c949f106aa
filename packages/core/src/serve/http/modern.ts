import {
  createMcpHandler,
  type JSONRPCNotification,
  type JSONRPCRequest,
  type McpHttpHandler,
  type Server,
} from "@modelcontextprotocol/server";
import * as z from "zod";
import type { Runtime } from "../../bind/runtime.ts";
import type { Binding } from "../../bind/server.ts";
import { Subscriptions } from "../../bind/subscriptions.ts";
import { asUri } from "../../bind/uri.ts";
import type { OptionTable } from "../../define/options.ts";
import type { Principal } from "./auth.ts";

const listenFilter = z.looseObject({
  notifications: z.looseObject({ resourceSubscriptions: z.array(z.string()) }),
});

/** Serves the modern era (2026-07-28): every request stands alone, on a server of its own. */
export class ModernEndpoint<Context> {
  readonly #calls: McpHttpHandler;
  readonly #listens: McpHttpHandler;
  readonly #subscriptions: Subscriptions;
  readonly #warn: (note: string) => void;
  readonly #unlisten: () => void;

  constructor(runtime: Runtime<Context, OptionTable>, binding: Binding<Context>) {
    this.#warn = (note) => runtime.log.warning(note);
    const options = {
      legacy: "reject",
      onerror: (error: Error) => runtime.log.debug(error.message),
    } as const;
    this.#subscriptions = new Subscriptions(
      binding.watch,
      (uri) => this.#calls.notify.resourceUpdated(uri),
      runtime.log,
    );
    this.#calls = createMcpHandler(() => this.#connect(binding), options);
    // A listen request only looks at what the server can do, and closes what it was given.
    const shown = this.#connect(binding);
    this.#listens = createMcpHandler(() => shown, { ...options, bus: this.#calls.bus });
    this.#unlisten = runtime.listen({
      changed: (uri) => this.#calls.notify.resourceUpdated(asUri(uri)),
      resourcesChanged: () => this.#calls.notify.resourcesChanged(),
    });
  }

  #connect(binding: Binding<Context>): Server {
    return binding.connect("modern", this.#subscriptions).server;
  }

  /**
   * Answers one message.
   *
   * @param whenClosed takes what to do when the response is over, however it ends.
   */
  async serve(
    request: Request,
    message: JSONRPCRequest | JSONRPCNotification,
    { authInfo }: Principal,
    whenClosed: (work: () => void) => void,
  ): Promise<Response> {
    const auth = authInfo === undefined ? {} : { authInfo };
    if (message.method !== "subscriptions/listen")
      return this.#calls.fetch(request, { ...auth, parsedBody: message });
    const { narrowed, watched } = await this.#watch(message);
    const release = () => void this.#release(watched);
    if (request.signal.aborted) release();
    else whenClosed(release);
    return this.#listens.fetch(request, { ...auth, parsedBody: narrowed });
  }

  /** Ends all streams in order. */
  async close(): Promise<void> {
    this.#unlisten();
    await Promise.all([this.#calls.close(), this.#listens.close()]);
    await this.#subscriptions.close();
  }

  /** Watches what a request listens to before it goes on, so that no change after the acknowledgement is missed. */
  async #watch<Message extends JSONRPCRequest | JSONRPCNotification>(message: Message) {
    const params = listenFilter.safeParse(message.params).data;
    const watched: string[] = [];
    if (params === undefined) return { narrowed: message, watched };
    for (const uri of new Set(params.notifications.resourceSubscriptions.map(asUri))) {
      try {
        await this.#subscriptions.add(uri);
        watched.push(uri);
      } catch (error) {
        this.#warn(`Cannot watch ${uri}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
    const notifications = { ...params.notifications, resourceSubscriptions: watched };
    return { narrowed: { ...message, params: { ...message.params, notifications } }, watched };
  }

  async #release(watched: readonly string[]): Promise<void> {
    for (const uri of watched) await this.#subscriptions.remove(uri);
  }
}
