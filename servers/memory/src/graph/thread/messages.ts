import { ToolError, type ToolErrorOptions } from "@refmcp/boundary/answer";
import type { JobName } from "./jobs.ts";
import type { OpenedStore } from "./open.ts";

/** To the thread: a job, with a flag that is set when it should stop, or a notification that the flag was set. */
export type Request =
  | {
      readonly id: number;
      readonly name: JobName;
      readonly args: readonly unknown[];
      readonly flag: Int32Array;
    }
  | { readonly id: number; readonly stopped: true };

/** What the main thread knows about an open store. */
export type Opened = Pick<OpenedStore, "notice" | "warning" | "official">;

/** From the thread. The first message has id 0: the store is open, or why it is not. */
export type Reply =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly failed: Failure }
  | { readonly id: number; readonly progress: number };

/** An error as it passes between threads, which keep no classes. */
interface Failure extends Pick<ToolErrorOptions, "hint" | "code" | "data"> {
  /** Omitted if it is not a ToolError: an internal error. */
  readonly kind?: ToolError["kind"];
  readonly message: string;
  /** The cause, or the stack of an internal error. */
  readonly detail: string | undefined;
}

export function failureOf(error: unknown): Failure {
  if (!(error instanceof ToolError))
    return { message: String(error), detail: error instanceof Error ? error.stack : undefined };
  const { kind, message, hint, code, data, cause } = error;
  return { kind, message, hint, code, data, detail: cause === undefined ? undefined : String(cause) };
}

export function errorOf({ kind, message, detail, ...options }: Failure): Error {
  if (kind !== undefined) return new ToolError(kind, message, { ...options, cause: detail });
  const error = new Error(message);
  if (detail !== undefined) error.stack = detail;
  return error;
}
