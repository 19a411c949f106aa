import { ToolError } from "@refmcp/core/answer";

export interface AskingOptions<Result> {
  /**
   * Does the work in one transaction. If it would lose anything other than `agreedLoss`, it rolls back and returns the
   * loss; otherwise it commits.
   */
  attempt(agreedLoss: string | undefined): Promise<{ loss: string } | { done: Result }>;
  /** Asks the user; throws if the user declines or nobody can be asked. */
  confirm(loss: string): Promise<void>;
}

/**
 * Preview, confirmation, change: the first attempt is rolled back to measure the loss, the user is asked about exactly that
 * loss without a lock being held, and the second attempt commits only if its loss is the one the user agreed to.
 *
 * @throws ToolError `denied` if the user declines, `conflict` if the loss has changed since; nothing is changed then.
 */
export async function agreed<Result>({ attempt, confirm }: AskingOptions<Result>): Promise<Result> {
  const first = await attempt(undefined);
  if ("done" in first) return first.done;
  await confirm(first.loss);
  const second = await attempt(first.loss);
  if ("done" in second) return second.done;
  throw new ToolError("conflict", `The data changed while the user was being asked; now: ${second.loss}`, {
    hint: "Nothing was changed. Call again to ask again.",
  });
}
