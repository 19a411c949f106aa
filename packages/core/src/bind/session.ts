import type { Server, ServerContext } from "@modelcontextprotocol/server";
import type { OptionTable } from "../define/options.ts";
import { Asking, capabilitiesIn, capabilitiesOf } from "./asking.ts";
import { type RunningCall, startCall } from "./call.ts";
import { type ClientRoots, legacyRoots, modernRoots, noRoots } from "./roots.ts";
import type { Runtime } from "./runtime.ts";
import type { Subscriptions } from "./subscriptions.ts";

/** One connection of a client to the running server. */
export class Session<Context> {
  readonly server: Server;
  readonly runtime: Runtime<Context, OptionTable>;
  readonly roots: ClientRoots;
  readonly subscriptions: Subscriptions;

  constructor(
    server: Server,
    runtime: Runtime<Context, OptionTable>,
    era: "legacy" | "modern",
    subscriptions: Subscriptions,
  ) {
    this.server = server;
    this.runtime = runtime;
    this.subscriptions = subscriptions;
    this.roots = rootsOf(server, runtime, era);
  }

  /** The protocol revision in force; undefined before it is settled. */
  get version(): string | undefined {
    return this.server.getNegotiatedProtocolVersion();
  }

  /** The questions of one request; `subject` names the call that the answers belong to. */
  asking(context: ServerContext, subject: () => string): Asking {
    return new Asking({
      context,
      capabilities: capabilitiesIn(
        this.version,
        capabilitiesOf(context, this.server.getClientCapabilities()),
      ),
      subject,
      confirm: this.runtime.options.confirm,
      state: this.runtime.state,
    });
  }

  startCall(context: ServerContext, asking: Asking): RunningCall {
    const { budget, options } = this.runtime;
    return startCall(context, asking, { budget, timeoutMs: options.timeoutMs });
  }
}

function rootsOf<Context>(
  server: Server,
  runtime: Runtime<Context, OptionTable>,
  era: "legacy" | "modern",
): ClientRoots {
  if (!runtime.asksForRoots) return noRoots;
  return era === "legacy"
    ? legacyRoots(server, runtime.bound, runtime.log)
    : modernRoots(runtime.bound, runtime.log);
}
