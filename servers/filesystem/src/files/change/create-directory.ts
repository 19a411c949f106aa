import { type Receipt, record } from "../journal/recording.ts";
import { type ChangeContext, removeEmpty } from "./change-context.ts";

export interface CreatedDirectory {
  readonly path: string;
  /** The created directories, outermost first; none if it already existed. */
  readonly created: readonly string[];
  readonly receipt: Receipt | undefined;
}

/** Creates a directory and any missing parents. Succeeds if it already exists. */
export async function createDirectory(context: ChangeContext, path: string): Promise<CreatedDirectory> {
  const absolute = await context.guard.resolve(path);
  const subject = { action: "create_directory", path: absolute } as const;
  const { created, receipt } = await record(context.journal, subject, async (recording) => {
    const created = await context.guard.createDirectory(absolute);
    if (created.length === 0) return { created };
    try {
      await recording.write({ kind: "made", directories: created });
    } catch (error) {
      await removeEmpty(context.guard, created);
      throw error;
    }
    return { created };
  });
  return { path: absolute, created, receipt: created.length === 0 ? undefined : receipt };
}
