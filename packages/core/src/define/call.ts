import type * as z from "zod";
import type { ClientRoot } from "../boundary/paths/directories.ts";
import type { LoggingLevel, SampleRequest, SampleResult } from "./content.ts";

/**
 * What a tool, resource or prompt gets for one call. It is the same in both protocol eras.
 *
 * A question to the client (`confirm`, `ask`, `openUrl`, `sample`, `roots`) ends this run, and the handler runs again from
 * the start once the answer is available, so it must change nothing before its last question is answered.
 * `resources/list`, completions and watches cannot ask in 2026-07-28.
 */
export interface Call {
  /** Aborts when the client cancels, the time limit runs out or the server closes. */
  readonly signal: AbortSignal;
  /** How many characters the response should stay within (`--max-answer-chars`). */
  readonly budget: number;
  /**
   * Milliseconds from now after which the call ends with an error (`--timeout-ms`), for work that prefers to return
   * partial results in time. If the client asked for progress, each report restarts the limit, up to ten times in
   * total; then this is what is left of the sum.
   */
  readonly leftMs: number;
  /**
   * Reports progress to a client that asked for it: `done` of `total` in any unit, with a short note. `done` must grow from
   * report to report.
   */
  progress(done: number, total?: number, note?: string): void;
  /** Sends a log message to the client, if it listens for that level. */
  log(level: LoggingLevel, message: string): void;
  /**
   * Asks the user to confirm exactly what `message` says.
   *
   * @throws ToolError `denied` if the user declines or cannot be asked.
   */
  confirm(message: string): Promise<void>;
  /**
   * Asks the user to fill in a form (elicitation): a flat object of strings, numbers, booleans and enums.
   * Questions that do not depend on each other can be asked at once: `await Promise.all([call.ask(…), call.roots()])`.
   *
   * @param key names the question to the client (2026-07-28, `inputRequests`); default: made of its content, so that
   *   an answer serves no other question. Give one only if any answer in that form will do.
   * @throws ToolError `denied` if the user declines or cannot be asked.
   */
  ask<Answer extends z.ZodObject>(message: string, answer: Answer, key?: string): Promise<z.output<Answer>>;
  /** Asks the user to visit `url` (elicitation in url mode); resolves when the user agreed to open it. */
  openUrl(message: string, url: string): Promise<void>;
  /**
   * Asks the client's model for a completion (sampling).
   *
   * @throws ToolError `denied` if the client offers no model; in 2026-07-28 the call then ends with -32021.
   */
  sample(request: SampleRequest): Promise<SampleResult>;
  /** The client's roots now; empty if the client has none. */
  roots(): Promise<readonly ClientRoot[]>;
}
