import type { ServerContext } from "@modelcontextprotocol/server";
import { ToolError } from "../answer/errors.ts";
import type { Call } from "../define/call.ts";
import type { Asking } from "./asking.ts";

/** A call and the means to end it. */
export interface RunningCall {
  readonly call: Call;
  /** Runs `work` under the time limit; rejects at once when it runs out or the client cancels. */
  limited<Value>(work: () => Promise<Value>): Promise<Value>;
}

/** The last progress of each request: it MUST increase (MCP, "Progress"). */
const reported = new WeakMap<AbortSignal, number>();

/** Builds what a handler gets. */
export function startCall(
  context: ServerContext,
  asking: Asking,
  options: { budget: number; timeoutMs: number },
): RunningCall {
  const ending = new Ending();
  const token = context.mcpReq._meta?.progressToken;
  const call: Call = {
    get signal() {
      return ending.signal;
    },
    budget: options.budget,
    progress(done, total, note) {
      if (token === undefined || ending.reason !== undefined || !Number.isFinite(done)) return;
      // Per request, not per run: in the legacy era a handler runs again within the same request after an answer.
      if (done <= (reported.get(context.mcpReq.signal) ?? Number.NEGATIVE_INFINITY)) return;
      reported.set(context.mcpReq.signal, done);
      const params = {
        progressToken: token,
        progress: done,
        ...(total === undefined || !Number.isFinite(total) ? {} : { total }),
        ...(note === undefined ? {} : { message: note }),
      };
      context.mcpReq.notify({ method: "notifications/progress", params }).catch(ignoreClosed);
    },
    log(level, message) {
      if (ending.reason === undefined) context.mcpReq.log(level, message).catch(ignoreClosed);
    },
    confirm: (message) => asking.confirm(message),
    ask: (message, answer, key) => asking.ask(message, answer, key),
    openUrl: (message, url) => asking.openUrl(message, url),
    sample: (request) => asking.sample(request),
    roots: async () => asking.roots() ?? [],
  };
  return {
    call,
    async limited(work) {
      const outer = context.mcpReq.signal;
      const cancel = () => ending.come(new ToolError("cancelled", "The call was cancelled."));
      if (outer.aborted) cancel();
      if (ending.reason !== undefined) throw ending.reason;
      outer.addEventListener("abort", cancel, { once: true });
      const timer = setTimeout(() => ending.come(timeoutError(options.timeoutMs)), options.timeoutMs);
      try {
        return await Promise.race([work(), ending.rejection()]);
      } finally {
        clearTimeout(timer);
        outer.removeEventListener("abort", cancel);
      }
    },
  };
}

/** The early end of a call. Most calls neither end early nor look at the signal, so it is made when asked for. */
class Ending {
  reason: ToolError | undefined;
  #controller: AbortController | undefined;
  #reject: ((reason: ToolError) => void) | undefined;

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.reason !== undefined) this.#controller.abort(this.reason);
    }
    return this.#controller.signal;
  }

  come(reason: ToolError): void {
    if (this.reason !== undefined) return;
    this.reason = reason;
    this.#controller?.abort(reason);
    this.#reject?.(reason);
  }

  rejection(): Promise<never> {
    return new Promise((_, reject) => {
      this.#reject = reject;
      if (this.reason !== undefined) reject(this.reason);
    });
  }
}

function timeoutError(timeoutMs: number): ToolError {
  return new ToolError("timeout", `Stopped after ${timeoutMs / 1000} s, the time limit of a call.`, {
    hint: "Ask for less, or raise --timeout-ms where the host allows longer calls.",
  });
}

/** A notification that can no longer be sent is of no use to anybody. */
function ignoreClosed(): void {}
