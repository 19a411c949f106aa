import { setMaxListeners } from "node:events";
import { ToolError } from "@refmcp/boundary/answer";
import type * as z from "zod";
import type { Call } from "../define/call.ts";
import type { LoggingLevel, SampleRequest, SampleResult } from "../define/content.ts";
import type { OptionTable } from "../define/options.ts";
import type { Awaitable } from "../define/tool.ts";
import { type ClientRequest, isThenable } from "../engine/request.ts";
import { type InputRequired, Questions } from "./questions.ts";
import type { Runtime } from "./runtime.ts";

/**
 * Runs a handler for a request, with the client's roots, the open context and a `Call`, under the time limit. If the
 * handler asks the client something, it runs again with the answers.
 *
 * @param subject what the client's answers belong to: the call with its arguments.
 * @param confirmedKeys what the user confirmed in a view, if the host asks that way.
 * @throws what the handler throws; ToolError `timeout` or `cancelled` if the call ends early.
 */
export async function runHandler<Context, Value>(
  runtime: Runtime<Context, OptionTable>,
  request: ClientRequest,
  subject: () => string,
  handler: (context: Context, call: Call) => Awaitable<Value>,
  confirmedKeys?: ReadonlySet<string>,
): Promise<Value | InputRequired> {
  let callQuestions: Questions | undefined;
  const questions = () => {
    callQuestions ??= new Questions(request, subject, runtime, confirmedKeys);
    return callQuestions;
  };
  // Refuses an invalid state before the handler runs.
  if (request.params.requestState !== undefined) questions();
  for (;;) {
    try {
      const value = await new RunningCall(request, questions, runtime.callLimits).runLimited(
        (call) => run(runtime, request, call, handler),
      );
      if (callQuestions?.isOpen !== true) return value;
    } catch (error) {
      if (callQuestions?.isOpen !== true) throw error;
    }
    if (request.client.ask === undefined) return questions().inputRequired();
    await questions().askAtOnce();
  }
}

/** Usually the roots are known and the context is open, so the handler starts at once. */
function run<Context, Value>(
  { roots, openContext, open }: Runtime<Context, OptionTable>,
  { client, revision }: ClientRequest,
  call: RunningCall,
  handler: (context: Context, call: Call) => Awaitable<Value>,
): Awaitable<Value> {
  if (revision.era === "modern" && roots !== undefined && Date.now() >= roots.knownUntil)
    roots.refresh(call.questions());
  const pending = roots?.requestsByClient.get(client);
  if (pending === undefined && openContext !== undefined) return handler(openContext.context, call);
  return Promise.resolve(pending)
    .then(open)
    .then((context) => {
      // If the call has ended in between, the client has its answer, so the handler must not run.
      call.check();
      return handler(context, call);
    });
}

/** Maximum time of a call that reports progress, as a multiple of the time limit (MCP, "Timeouts"). */
const MAX_LIMITS = 10;

/** The `Call` of one run of a handler. Most calls never use the signal, so it is created on demand. */
class RunningCall implements Call {
  readonly #request: ClientRequest;
  readonly questions: () => Questions;
  readonly #limits: Runtime<unknown, OptionTable>["callLimits"];
  readonly #began = performance.now();
  #timer: NodeJS.Timeout | undefined;
  #endReason: ToolError | undefined;
  #controller: AbortController | undefined;
  #reject: ((reason: ToolError) => void) | undefined;

  constructor(
    request: ClientRequest,
    questions: () => Questions,
    limits: Runtime<unknown, OptionTable>["callLimits"],
  ) {
    this.#request = request;
    this.questions = questions;
    this.#limits = limits;
  }

  get budget(): number {
    return this.#limits.budget;
  }

  get leftMs(): number {
    const { timeoutMs, taskMs } = this.#limits;
    const callMs = timeoutMs * (this.#request.wantsProgress ? MAX_LIMITS : 1);
    const isTask = this.#request.taskAfterMs < timeoutMs;
    const end = isTask ? this.#request.began + taskMs : this.#began + callMs;
    return Math.max(0, end - performance.now());
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      // Any number of steps of a call may wait for it.
      setMaxListeners(0, this.#controller.signal);
      if (this.#endReason !== undefined) this.#controller.abort(this.#endReason);
    }
    return this.#controller.signal;
  }

  /** Runs `work` under the time limit; rejects at once when it runs out or the client cancels. */
  runLimited<Value>(work: (call: RunningCall) => Awaitable<Value>): Awaitable<Value> {
    if (this.#request.isOver) throw cancelledError();
    const result = work(this);
    if (!isThenable(result)) return result;
    this.#request.handlerBegan(this.#onCancel);
    this.#timer = setTimeout(this.#onTimeout, this.#limits.timeoutMs);
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      const onSettled = () => {
        clearTimeout(this.#timer);
        this.#timer = undefined;
        this.#request.handlerSettled(this.#onCancel);
      };
      Promise.resolve(result).finally(onSettled).then(resolve, reject);
    });
  }

  readonly #onCancel = (): void => this.#end(cancelledError());

  readonly #onTimeout = (): void => {
    const { timeoutMs, taskMs } = this.#limits;
    const isTask = this.#request.task !== undefined;
    const leftMs = isTask ? this.#request.began + taskMs - performance.now() : 0;
    if (leftMs > 0) {
      this.#timer = setTimeout(this.#onTimeout, leftMs);
      return;
    }
    const [ms, noun, option] = isTask
      ? [taskMs, "task", "--task-timeout-ms"]
      : [timeoutMs, "call", "--timeout-ms if the host allows longer calls"];
    const message = `Timed out after ${ms / 1000} s, the time limit of a ${noun}.`;
    this.#end(new ToolError("timeout", message, { hint: `Request less, or raise ${option}.` }));
  };

  check(): void {
    if (this.#endReason !== undefined) throw this.#endReason;
  }

  #end(reason: ToolError): void {
    if (this.#endReason !== undefined) return;
    this.#endReason = reason;
    clearTimeout(this.#timer);
    this.#controller?.abort(reason);
    this.#reject?.(reason);
  }

  progress(done: number, total?: number, note?: string): void {
    if (this.#endReason !== undefined) return;
    this.#request.reportProgress(done, total, note);
    // Also if the client does not show it: work that goes on must not be lost.
    const until = this.#began + this.#limits.timeoutMs * (MAX_LIMITS - 1);
    if (this.#request.task === undefined && performance.now() < until) this.#timer?.refresh();
  }

  log(level: LoggingLevel, message: string): void {
    if (this.#endReason === undefined) this.#request.log(level, message);
  }

  confirm(message: string, action?: string): Promise<void> {
    return this.questions().confirm(message, action);
  }

  ask<Form extends z.ZodObject>(message: string, form: Form, key?: string): Promise<z.output<Form>>;
  ask(message: string, url: URL): Promise<void>;
  ask(message: string, formOrUrl: z.ZodObject | URL, key?: string): Promise<unknown> {
    return this.questions().ask(message, formOrUrl, key);
  }

  sample(request: SampleRequest): Promise<SampleResult> {
    return this.questions().sample(request);
  }

  get canSample(): boolean {
    return this.questions().canSample;
  }
}

function cancelledError(): ToolError {
  return new ToolError("cancelled", "The call was cancelled.");
}
