import { ToolError } from "@refmcp/core/answer";

export interface AskingOptions<Result> {
  /**
   * Does the work in one transaction. Where it loses something other than `agreedLoss`, it takes everything back and
   * returns the loss; otherwise it commits.
   */
  attempt(agreedLoss: string | undefined): Promise<{ loss: string } | { done: Result }>;
  /** Asks the user; throws where the user declines or nobody can be asked. */
  confirm(loss: string): Promise<void>;
}

/**
 * Preview, question, change: what is lost is found by doing it and taking it back; the user is asked about exactly that,
 * with no lock held while waiting, and what is lost in the end is compared with what was agreed to.
 *
 * @throws ToolError `denied` by the user; `conflict` where the loss has changed since. Nothing is changed then.
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
