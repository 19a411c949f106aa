import type * as z from "zod";
import type { LoggingLevel, SampleRequest, SampleResult } from "./content.ts";

/**
 * What a tool, resource or prompt gets for one call; the same in both protocol eras.
 *
 * A question to the client (`confirm`, `ask`, `sample`) ends this run. The handler runs again from
 * the start once the answer is available, so it must not change anything before its last question is answered.
 * `resources/list`, completions and watches cannot ask in 2026-07-28.
 */
export interface Call {
  /** Aborts when the client cancels, the time limit runs out or the server closes. */
  readonly signal: AbortSignal;
  /** How many characters the response should stay within (`--max-answer-chars`). */
  readonly budget: number;
  /**
   * Milliseconds left before the call ends with an error (`--timeout-ms`), for work that can return partial results in
   * time. Each report of progress restarts the limit, up to ten times in total; if the client requested progress, this is
   * the rest of the total. A call that becomes a task if it takes long has the time of one (`--task-timeout-ms`).
   */
  readonly leftMs: number;
  /**
   * Reports progress to a client that requested it: `done` of `total` in any unit, with a short note. `done` must
   * increase with each report.
   */
  progress(done: number, total?: number, note?: string): void;
  /** Sends a log message to the client, if it wants that level. */
  log(level: LoggingLevel, message: string): void;
  /**
   * Asks the user to confirm exactly what `message` says.
   *
   * @param action what the user agrees to, for a button: a verb and the loss, such as "Delete 37 files". Default: the
   *   question that `message` begins with, without its details.
   * @throws ToolError `denied`, code `declined` if the user declines, `cannot_ask` if the client cannot ask.
   */
  confirm(message: string, action?: string): Promise<void>;
  /**
   * Asks the user to fill in a form (elicitation), a flat object of strings, numbers, booleans and enums; or, given a URL,
   * to visit it. Independent questions can be asked at once: `await Promise.all([call.ask(…), call.ask(…)])`.
   *
   * @param key the question's key for the client (2026-07-28, `inputRequests`). Default: derived from its content, so
   *   an answer is valid for no other question. Set it only if any answer in that form will do.
   * @throws ToolError `denied` if the user declines or cannot be asked.
   */
  ask<Form extends z.ZodObject>(message: string, form: Form, key?: string): Promise<z.output<Form>>;
  ask(message: string, url: URL): Promise<void>;
  /**
   * Asks the client's model for a completion (sampling).
   *
   * @throws ToolError `denied` if the client offers no model; in 2026-07-28, the call ends with -32021 instead. ToolError
   * `unavailable` if the client refuses or fails to answer, so that the handler can do without.
   */
  sample(request: SampleRequest): Promise<SampleResult>;
  /** Whether the client offers a model for `sample` within this call. */
  readonly canSample: boolean;
}
