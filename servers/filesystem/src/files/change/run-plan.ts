import { join } from "node:path";
import { type ChangeContext, inGroup, removeEmpty } from "./change-context.ts";
import { copy } from "./copy.ts";
import { lossQuestion, move } from "./move.ts";
import type { Plan } from "./plan.ts";
import { takeBack } from "./undo-group.ts";

const PROGRESS_EVERY = 25;

export interface RunOptions {
  readonly progress?: (done: number, total: number) => void;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Carries out a plan as one change: all of it, or nothing if anything fails or the call is cancelled.
 *
 * @returns `skipped`: links and special files in directories that were not copied.
 * @throws ToolError of the move or copy that failed.
 */
export async function runPlan(
  context: ChangeContext,
  { action, pairs, parents, overwrite }: Plan,
  { progress, signal }: RunOptions,
) {
  const [first] = pairs;
  const subject = { action, path: first?.from ?? "", destination: first?.to } as const;
  const work = async (inside: ChangeContext) => {
    const skipped: string[] = [];
    if (parents.length > 0) await makeParents(inside, parents);
    for (const [index, { from, to }] of pairs.entries()) {
      signal?.throwIfAborted();
      const request = { source: from, destination: to, overwrite, signal };
      if (action === "move") await move(inside, request);
      else skipped.push(...(await copy(inside, request)).skipped.map((path) => join(from, path)));
      if ((index + 1) % PROGRESS_EVERY === 0) progress?.(index + 1, pairs.length);
    }
    return { skipped };
  };
  return inGroup(context, subject, work, (group) => takeBack(context, group));
}

/** Recorded before they are created, so that an interrupted call leaves no unknown directory. */
async function makeParents(
  { guard, record }: ChangeContext,
  directories: readonly string[],
): Promise<void> {
  const [path = ""] = directories;
  await record({ action: "create_directory", path }, async (recording) => {
    await recording.write({ kind: "made", directories: [...directories] });
    const created: string[] = [];
    try {
      for (const directory of directories)
        created.push(...(await guard.createDirectory(directory)));
    } catch (error) {
      await removeEmpty(guard, created);
      throw error;
    }
    return {};
  });
}

/** The question to ask before files are permanently replaced; undefined if their content is kept. */
export async function planQuestion(
  context: ChangeContext,
  { replaced }: Plan,
): Promise<string | undefined> {
  const { count, bytes, path } = replaced;
  if (bytes === 0) return undefined;
  return lossQuestion(
    context,
    count === 1 ? "Replace" : `Replace ${count} files, among them`,
    path,
    bytes,
  );
}
