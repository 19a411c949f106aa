import { ToolError } from "@refmcp/boundary/answer";
import type { Call } from "@refmcp/core";

/** A call for unit tests, which records a tool's reports and questions. */
export interface RecordedCall extends Call {
  readonly reported: readonly {
    done: number;
    total: number | undefined;
    note: string | undefined;
  }[];
  readonly questions: readonly string[];
  /** Aborts `signal` as a client's cancellation would. */
  cancel(): void;
}

export interface FakeCallOptions {
  /** Default 20,000 characters. */
  readonly budget?: number;
  /** The user's answer to `confirm`. Default: the user cannot be asked. */
  readonly agrees?: boolean;
}

/** A `Call` for a tool's `run` in a unit test, without a client. */
export function fakeCall(options: FakeCallOptions = {}): RecordedCall {
  const controller = new AbortController();
  const reported: { done: number; total: number | undefined; note: string | undefined }[] = [];
  const questions: string[] = [];
  const unanswerable = (message: string): never => {
    questions.push(message);
    throw new ToolError("denied", `There is no user to ask: ${message}`, {
      code: "cannot_ask",
      hint: "--confirm never",
    });
  };
  return {
    signal: controller.signal,
    budget: options.budget ?? 20_000,
    leftMs: 50_000,
    reported,
    questions,
    progress: (done, total, note) => void reported.push({ done, total, note }),
    log: () => undefined,
    async confirm(message) {
      if (options.agrees === undefined) unanswerable(message);
      questions.push(message);
      if (options.agrees === false)
        throw new ToolError("denied", "The user declined.", { code: "declined" });
    },
    ask: async (message: string) => unanswerable(message),
    sample: async () => unanswerable("sampling"),
    canSample: false,
    cancel: () => controller.abort(new ToolError("cancelled", "The call was cancelled.")),
  };
}
