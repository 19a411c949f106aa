import { ToolError } from "@refmcp/core/answer";

export interface ChangedFiles<File> {
  /** Those that changed, in order. */
  readonly files: readonly File[];
  /** The file that could not be changed after those before it were, and why. */
  readonly stopped: { readonly path: string; readonly error: ToolError } | undefined;
}

/** Changes files in order. The first refusal stops it; it is thrown where nothing was changed before. */
export async function changeInTurn<Step extends { readonly path: string }, File>(
  steps: readonly Step[],
  change: (step: Step) => Promise<File>,
): Promise<ChangedFiles<File>> {
  const files: File[] = [];
  for (const step of steps) {
    try {
      files.push(await change(step));
    } catch (error) {
      if (!(error instanceof ToolError) || files.length === 0) throw error;
      return { files, stopped: { path: step.path, error } };
    }
  }
  return { files, stopped: undefined };
}
